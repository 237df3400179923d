/**
 * The payloads of jobs, each with its version: requests for a worker, and responses for a coordinator. They contain
 * no secret: a job names its principal, and the worker finds the credential in its own settings.
 */
import { z } from "zod";
import { isServiceErrorCode, ServiceError } from "../../src/service/errors.ts";
import { rateLimitFields } from "../../src/service/requests/headers.ts";
import type { RawResponse, ResponseHead } from "../../src/service/transport/send-request.ts";
import { timeMillis } from "./entries/read-entries.ts";
import { isResponseQueue, payloadVersion } from "./queue-names.ts";

/** Responses that workers send together: a job for each would cost more in Redis than the requests themselves. */
export const maxResponsesPerJob = 8;

/** Of the text of a failure. */
const maxDetailLength = 10_000;

/** One request. What people read comes first. */
const fetchPayload = z.object({
  v: z.literal(payloadVersion),
  /** Of the mirror. */
  run: z.int(),
  kind: z.string(),
  url: z.string(),
  /** Names of what it belongs to and of itself, such as `Comexim › Lupine › 70G`; null if unknown, and for accounts. */
  label: z.string().nullable(),
  /** From 1; an attempt after one that failed. */
  attempt: z.int(),
  /** `if-none-match` or `if-modified-since` with its value, or empty. */
  condition: z.array(z.string()).refine(isCondition),
  /** Whether the response 304 costs nothing, as far as is known. */
  isFreeIfUnchanged: z.boolean(),
  /** For the exchange between programs. */
  reply: z.object({
    /** Identifies the coordinator of one run: once that run has ended, nothing is sent for it. */
    coordinatorId: z.string(),
    /** Proves that the coordinator has the principal's credential. */
    credentialProof: z.string(),
    /** The queue for the responses. */
    queue: z.string().refine((name) => isResponseQueue(name) && !name.includes(":")),
    /** Of the request, which the response repeats. */
    id: z.string(),
  }),
});
export type FetchPayload = z.infer<typeof fetchPayload>;

function isCondition([name, ...values]: readonly string[]): boolean {
  return name === undefined || (["if-none-match", "if-modified-since"].includes(name) && values.length === 1);
}

/** The return value of a job: what came of the request. */
export interface FetchSummary {
  readonly outcome: "body" | "not modified" | "gone" | "redirect" | "not sent" | "to be planned again";
  /** Null if nothing was sent. */
  readonly status: number | null;
  /** As received, compressed. */
  readonly bytes: number;
  readonly milliseconds: number;
  /** Requests of the allowance that it spent, as far as is known. */
  readonly counted: 0 | 1;
}

const head = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});

const wireResponse = z.discriminatedUnion("outcome", [
  /** `wire` is base64. */
  z.object({ id: z.string(), outcome: z.literal("response"), head, wire: z.string() }),
  z.object({
    id: z.string(),
    outcome: z.literal("failed"),
    head: head.nullable(),
    failure: z.object({
      code: z.string(),
      detail: z.string().max(maxDetailLength),
      status: z.int().nullable(),
      resumeAt: timeMillis.nullable(),
    }),
  }),
  /** The request was not sent, and is to be queued again. */
  z.object({ id: z.string(), outcome: z.literal("unsent") }),
]);
export type WireResponse = z.infer<typeof wireResponse>;

const responsesPayload = z.object({ v: z.literal(payloadVersion), responses: z.array(wireResponse) });
export type ResponsesPayload = z.infer<typeof responsesPayload>;

/** @returns the payload, or why it is invalid */
export function readFetchPayload(data: unknown): FetchPayload | { readonly problem: string } {
  return parse(fetchPayload, data);
}

/** @returns the payload, or why it is invalid */
export function readResponses(data: unknown): ResponsesPayload | { readonly problem: string } {
  return parse(responsesPayload, data);
}

function parse<Payload>(schema: z.ZodType<Payload>, data: unknown): Payload | { readonly problem: string } {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const version = typeof data === "object" && data !== null && "v" in data ? data.v : undefined;
  return {
    problem:
      version === payloadVersion
        ? `its payload is not valid in version ${payloadVersion}`
        : `its payload has version ${String(version)}, this program reads version ${payloadVersion}`,
  };
}

export function toWireResponse(id: string, { head, wire, failure }: RawResponse): WireResponse {
  const sentHead = head && { status: head.status, headers: selectHeaders(head.headers) };
  if (failure === null) {
    if (sentHead === null) throw new TypeError("a response without a head");
    return { id, outcome: "response", head: sentHead, wire: Buffer.from(wire).toString("base64") };
  }
  const { code, detail, status, resumeAt } = failure;
  return {
    ...{ id, outcome: "failed", head: sentHead },
    failure: { code, detail: detail.slice(0, maxDetailLength), status, resumeAt },
  };
}

/** @param url of the request */
export function fromWireResponse(
  response: Exclude<WireResponse, { outcome: "unsent" }>,
  url: string,
): RawResponse {
  if (response.outcome === "response") {
    // A copy outside Node's buffer pool: its memory is transferred to the thread that writes the mirror.
    const wire = new Uint8Array(Buffer.from(response.wire, "base64"));
    return { head: response.head, wire, failure: null };
  }
  const { code, detail, ...context } = response.failure;
  const knownCode = isServiceErrorCode(code) ? code : "worker-lost";
  return {
    head: response.head,
    wire: null,
    failure: new ServiceError(knownCode, detail, { ...context, url }),
  };
}

/** The headers that the client reads. Others, such as cookies, stay with the worker. */
const sentHeaders: readonly string[] = [
  "date",
  "etag",
  "last-modified",
  "link",
  "location",
  "content-type",
  "content-encoding",
  "content-length",
  "transfer-encoding",
  "retry-after",
  ...rateLimitFields,
];

function selectHeaders(headers: ResponseHead["headers"]): Record<string, string | string[]> {
  return Object.fromEntries(
    sentHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
