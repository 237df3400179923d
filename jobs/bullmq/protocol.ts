/**
 * What crosses Redis, each with the version of its form: requests of a few fetches, and answers to such requests. No secret is
 * among it: a principal is named, and the worker finds the credential in its own settings.
 */
import { z } from "zod";
import { isServiceErrorCode, ServiceError } from "../../src/service/errors.ts";
import type { RawResponse, ResponseHead } from "../../src/service/transport/send-request.ts";

export const payloadVersion = 1;

const fetchPayload = z.object({
  v: z.literal(payloadVersion),
  requests: z.array(
    z.object({
      id: z.string(),
      url: z.string(),
      /** `if-none-match` or `if-modified-since` and its value; else empty. */
      condition: z.array(z.string()),
    }),
  ),
  /** Whoever asked, as long as it lives: what it asked for before is not asked again for another. */
  coordinator: z.string(),
  /** That the coordinator has the same credential for this principal; it gives none away. */
  proof: z.string(),
  /** The queue that the answer goes to. */
  answersTo: z.string(),
});
export type FetchPayload = z.infer<typeof fetchPayload>;
export type WireRequest = FetchPayload["requests"][number];

/** The headers that the door reads; cookies and the like stay with the worker. */
const wantedHeaders = [
  "etag",
  "location",
  "content-type",
  "content-encoding",
  "content-length",
  "transfer-encoding",
  "retry-after",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
] as const;

const head = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});

const answer = z.discriminatedUnion("end", [
  /** `wire` is base64. */
  z.object({ id: z.string(), end: z.literal("answered"), head, wire: z.string() }),
  z.object({
    id: z.string(),
    end: z.literal("failed"),
    head: head.nullable(),
    failure: z.object({
      code: z.string(),
      detail: z.string(),
      status: z.int().nullable(),
      resumeAt: z.number().nullable(),
    }),
  }),
  /** It was not sent, and somebody else may. */
  z.object({ id: z.string(), end: z.literal("handed-back") }),
]);
export type WireResponse = z.infer<typeof answer>;

const answersPayload = z.object({ v: z.literal(payloadVersion), answers: z.array(answer) });
export type ResponsesPayload = z.infer<typeof answersPayload>;

/** @returns the payload, or in words what is wrong with it */
export function readFetchPayload(data: unknown): FetchPayload | { readonly problem: string } {
  return read(fetchPayload, data);
}

/** @returns the payload, or in words what is wrong with it */
export function readResponses(data: unknown): ResponsesPayload | { readonly problem: string } {
  return read(answersPayload, data);
}

function read<Payload>(schema: z.ZodType<Payload>, data: unknown): Payload | { readonly problem: string } {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const version = typeof data === "object" && data !== null && "v" in data ? data.v : undefined;
  return {
    problem:
      version === payloadVersion
        ? `it does not keep to version ${payloadVersion} of its form`
        : `its form is of version ${String(version)}, this program knows version ${payloadVersion}`,
  };
}

export function toWireResponse(id: string, { head, wire, failure }: RawResponse): WireResponse {
  const kept = head && { status: head.status, headers: keptHeaders(head.headers) };
  if (failure === null) {
    return { id, end: "answered", head: kept ?? never(), wire: Buffer.from(wire).toString("base64") };
  }
  const { code, detail, status, resumeAt } = failure;
  return { id, end: "failed", head: kept, failure: { code, detail, status, resumeAt } };
}

/** @param url what was asked */
export function fromWireResponse(
  answer: Exclude<WireResponse, { end: "handed-back" }>,
  url: string,
): RawResponse {
  if (answer.end === "answered") {
    // A buffer of its own, not a piece of Node's pool: it is handed over to the thread that writes.
    return { head: answer.head, wire: new Uint8Array(Buffer.from(answer.wire, "base64")), failure: null };
  }
  const { code, detail, ...facts } = answer.failure;
  const known = isServiceErrorCode(code) ? code : "worker-lost";
  return { head: answer.head, wire: null, failure: new ServiceError(known, detail, { ...facts, url }) };
}

function keptHeaders(headers: ResponseHead["headers"]): Record<string, string | string[]> {
  return Object.fromEntries(
    wantedHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function never(): never {
  throw new TypeError("an answer has a head");
}
