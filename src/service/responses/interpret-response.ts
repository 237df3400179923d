/**
 * What an answer means. In: a head, the bytes on the wire, and what was asked. Out: what to do. Pure; it never waits,
 * sends or counts, and it never shows a text from the service that has not been cleaned.
 */
import { errorMessageOf, isNotAuthenticated } from "../../../schema/envelope.ts";
import { ServiceError, type ServiceErrorCode, type ServiceErrorContext } from "../errors.ts";
import type { ServiceLimits } from "../transport/pool.ts";
import type { ResponseHead } from "../transport/send-request.ts";
import type { FetchResponse } from "./fetch-response.ts";
import { isSameEntity, readEntityTag } from "./headers.ts";
import type { AttemptReport } from "./rate-limiter.ts";
import { isJsonType, readBodyOrThrow } from "./read-body.ts";

export type ResponseAction<Fetched> =
  | { readonly do: "return"; readonly fetched: Fetched }
  | { readonly do: "redirect"; readonly location: string }
  /** Ask once more without a validator; `error` is what a second time means. */
  | { readonly do: "ask-plainly"; readonly error: ServiceError }
  /** The service asked to wait until `retryAt` (epoch milliseconds); `error` is what not waiting means. */
  | { readonly do: "wait"; readonly retryAt: number; readonly error: ServiceError };

export interface SentRequest {
  /** The address that the caller gave. */
  readonly url: string;
  /** The address that was asked, after redirects. */
  readonly finalUrl: string;
  /** The validator that was sent. */
  readonly etag: string | null;
  /** The other validator that was sent, where there was no tag. */
  readonly lastModified: string | null;
  readonly limits: ServiceLimits;
  /** Takes the credential out of a text. */
  readonly redact: (text: string) => string;
}

/** Reads one answer. @throws ServiceError when it brings nothing */
export type ResponseParser<Fetched> = (
  head: ResponseHead,
  wire: Uint8Array,
  report: AttemptReport,
  asked: SentRequest,
) => ResponseAction<Fetched>;

export const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * @param report what the answer's headers say of the allowance
 * @throws ServiceError when the answer brings nothing
 */
export function interpretResponse(
  head: ResponseHead,
  wire: Uint8Array,
  report: AttemptReport,
  asked: SentRequest,
): ResponseAction<FetchResponse> {
  const { status, headers } = head;
  const { url, finalUrl, limits } = asked;
  if (status === 200) {
    const { bytes, json } = readBodyOrThrow(head, wire, finalUrl, limits);
    if (isNotAuthenticated(json)) throw notAuthenticated({ url: finalUrl, status });
    const etag = readEntityTag(headers.etag);
    return { do: "return", fetched: { outcome: "body", url, finalUrl, status, etag, body: bytes, json } };
  }
  if (status === 304) return judgeNotModified(headers.etag, asked);
  if (redirects.includes(status) && typeof headers.location === "string") {
    return { do: "redirect", location: headers.location };
  }
  return judgeRefusalOrThrow(head, wire, report, asked);
}

/** A 304 counts only if it answers the question: a validator was sent, and the tag that comes back is the same one. */
function judgeNotModified(
  header: string | undefined,
  { url, finalUrl, etag }: SentRequest,
): ResponseAction<FetchResponse> {
  const current = readEntityTag(header);
  if (etag !== null && (current === null || isSameEntity(current, etag))) {
    return { do: "return", fetched: { outcome: "not-modified", url, etag: current ?? etag } };
  }
  const detail = "answered “not modified”, but not about what was asked";
  return {
    do: "ask-plainly",
    error: new ServiceError("unasked-not-modified", detail, { url: finalUrl, status: 304 }),
  };
}

function judgeRefusalOrThrow(
  head: ResponseHead,
  wire: Uint8Array,
  report: AttemptReport,
  asked: SentRequest,
): ResponseAction<FetchResponse> {
  const { status } = head;
  const { allowance, retryAt } = report;
  const facts = { url: asked.finalUrl, status };
  const body = readErrorBody(head, wire, asked);
  const message = errorMessageOf(body);
  const answered = `answered ${status}${message === null ? "" : `, “${forShowing(asked.redact(message))}”`}`;
  const fail = (code: ServiceErrorCode): never => {
    throw new ServiceError(code, answered, facts);
  };

  if (status === 401 || isNotAuthenticated(body)) throw notAuthenticated(facts);
  const isSpent = status === 403 && (allowance?.remaining === 0 || /rate limit/i.test(message ?? ""));
  if (isSpent || (status === 429 && allowance?.remaining === 0 && retryAt === null)) {
    throw new ServiceError("allowance-spent", answered, {
      ...facts,
      resumeAt: retryAt ?? allowance?.resetAt ?? null,
    });
  }
  if (retryAt !== null && (status === 403 || status === 429 || status === 503)) {
    return {
      do: "wait",
      retryAt,
      error: new ServiceError("throttled", answered, { ...facts, resumeAt: retryAt }),
    };
  }
  if (status === 429) return fail("busy");
  if (status >= 500 || status === 408) return fail("server-error");
  if (!isFromTheApi(head, wire, body)) return fail("not-the-api");
  if (status === 404 || status === 410)
    return { do: "return", fetched: { outcome: "gone", url: asked.url, status } };
  return fail(status === 403 ? "forbidden" : "unexpected-status");
}

/** An error page of something in between must not pass for a deletion. */
function isFromTheApi({ headers }: ResponseHead, wire: Uint8Array, body: unknown): boolean {
  if (wire.length === 0) return headers["content-type"] === undefined || isJsonType(headers["content-type"]);
  return body !== undefined;
}

/** The parsed body of an error, or undefined when it is not the API's; the status says enough without it. */
function readErrorBody(head: ResponseHead, wire: Uint8Array, { finalUrl, limits }: SentRequest): unknown {
  try {
    return readBodyOrThrow(head, wire, finalUrl, limits).json;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

function notAuthenticated(facts: ServiceErrorContext): ServiceError {
  return new ServiceError("not-authenticated", `not authenticated (answered ${facts.status})`, facts);
}

/** Without what would move a terminal's cursor or turn its text around, and short. */
function forShowing(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ");
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}
