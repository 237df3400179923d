/**
 * The meaning of a response of the service. In: its head, its bytes, and the request. Out: what to do next. Pure; text of the
 * service is shown only without control characters.
 */
import { errorMessageOf, isNotAuthenticated } from "../../../schema/envelope.ts";
import { type Clock, toIso } from "../../platform/clock.ts";
import { ServiceError, type ServiceErrorCode, type ServiceErrorContext } from "../errors.ts";
import type { FetchResponse } from "../fetch-result.ts";
import type { ServiceLimits } from "../transport/pool.ts";
import type { ResponseHead } from "../transport/send-request.ts";
import {
  isModificationTime,
  isSameEntity,
  pauseUntil,
  readEntityTag,
  readKeptHeaders,
  readValidator,
} from "./headers.ts";
import type { AttemptReport } from "./rate-limiter.ts";
import { isJsonType, type JsonBody, readBodyOrThrow, readJsonOrThrow } from "./read-body.ts";
import { decideRefusal, isUnexplainedRefusal, maxBelievedWaits } from "./retry-policy.ts";

export type ResponseAction<Fetched> =
  | { readonly do: "return"; readonly fetched: Fetched }
  | { readonly do: "redirect"; readonly location: string }
  /** Send it once more without a validator; `error` is the outcome of a second time. */
  | { readonly do: "retry-unconditionally"; readonly error: ServiceError }
  /** Wait until `retryAt` (epoch milliseconds), as the service requires; `error` is the outcome of not waiting. */
  | { readonly do: "wait"; readonly retryAt: number; readonly error: ServiceError };

export interface SentRequest {
  /** The address that the caller gave. */
  readonly url: string;
  /** The address that was requested, after redirects. */
  readonly finalUrl: string;
  /** The validator that was sent. */
  readonly etag: string | null;
  /** The other validator that was sent, without a tag. */
  readonly lastModified: string | null;
  /** How often it was refused with `Retry-After` before. */
  readonly waits: number;
  /** Whether the caller finds out what a long `Retry-After` concerns. */
  readonly isExamined: boolean;
  readonly limits: ServiceLimits;
  /** A longer `Retry-After` is not waited for. */
  readonly maxRetryAfterMillis: number;
  readonly clock: Pick<Clock, "now">;
  /** Removes the credential from a text. */
  readonly redact: (text: string) => string;
}

/** @throws ServiceError for an unusable response */
export type ResponseParser<Fetched> = (
  head: ResponseHead,
  wire: Uint8Array,
  report: AttemptReport,
  request: SentRequest,
) => ResponseAction<Fetched>;

export const redirects: readonly number[] = [301, 302, 303, 307, 308];

export const interpretResponse: ResponseParser<FetchResponse> = (head, wire, report, request) => {
  const { status, headers } = head;
  const { url, finalUrl, limits, clock } = request;
  if (status === 200) {
    const { bytes } = readEnvelopeBodyOrThrow(head, wire, finalUrl, limits);
    const fetched = {
      outcome: "body",
      fetchedAt: toIso(clock.now()),
      status,
      etag: readValidator(headers),
      headers: readKeptHeaders(headers),
      ...(finalUrl !== url && { finalUrl }),
      body: bytes,
    } as const;
    return { do: "return", fetched };
  }
  if (status === 304) return interpretNotModified(head, request);
  if (redirects.includes(status) && typeof headers.location === "string") {
    return { do: "redirect", location: headers.location };
  }
  return interpretRefusal(head, wire, report, request);
};

/** The body of a status 200. @throws ServiceError */
export function readEnvelopeBodyOrThrow(
  head: ResponseHead,
  wire: Uint8Array,
  url: string,
  limits: ServiceLimits,
): JsonBody {
  const body = readBodyOrThrow(head, wire, url, limits);
  if (isNotAuthenticated(body.json)) throw notAuthenticated({ url, status: head.status });
  return body;
}

/** A 304 counts only as the response to a validator, and only with the same one or none. */
function interpretNotModified(
  { headers }: ResponseHead,
  { finalUrl, etag, clock }: SentRequest,
): ResponseAction<FetchResponse> {
  if (etag !== null && isSameValidator(headers, etag)) {
    return { do: "return", fetched: { outcome: "not-modified", fetchedAt: toIso(clock.now()) } };
  }
  return { do: "retry-unconditionally", error: unexpectedNotModified(finalUrl) };
}

function isSameValidator(headers: ResponseHead["headers"], sent: string): boolean {
  const current = readEntityTag(headers.etag);
  if (!isModificationTime(sent)) return current === null || isSameEntity(current, sent);
  const { modifiedAt } = readKeptHeaders(headers);
  return current === null && (modifiedAt === null || Date.parse(modifiedAt) === Date.parse(sent));
}

export function unexpectedNotModified(url: string): ServiceError {
  const detail = "answered “not modified” to a request without that validator";
  return new ServiceError("unexpected-not-modified", detail, { url, status: 304 });
}

function interpretRefusal(
  head: ResponseHead,
  wire: Uint8Array,
  { allowance, retryAt }: AttemptReport,
  request: SentRequest,
): ResponseAction<FetchResponse> {
  const { status } = head;
  const context = { url: request.finalUrl, status };
  const body = readErrorBody(head, wire, request);
  const message = errorMessageOf(body);
  const detail = `answered ${status}${message === null ? "" : `, “${toPrintable(request.redact(message))}”`}`;
  const isUnexplained = isUnexplainedRefusal({ status, message, allowance, retryAt });
  const hasWaited = request.waits >= maxBelievedWaits;
  const failure = (code: ServiceErrorCode, resumeAt: number | null = null) =>
    new ServiceError(code, detail, {
      ...{ ...context, resumeAt },
      isUnexplained: isUnexplained || (code === "busy" && hasWaited),
    });

  if (status === 401 || isNotAuthenticated(body)) throw notAuthenticated(context);
  const waitUntil = retryAt ?? pauseUntil(allowance);
  const decision = decideRefusal({ status, message, allowance, retryAt: waitUntil });
  switch (decision?.do) {
    case "stop":
      throw failure("allowance-spent", decision.resumeAt);
    case "wait": {
      const { retryAt: resumeAt } = decision;
      const isRepeated = status !== 503 && hasWaited;
      const isLong = resumeAt - request.clock.now() > request.maxRetryAfterMillis;
      // A wait until the renewal of a spent allowance concerns everything.
      const mayConcernOne = isRepeated || (request.isExamined && isLong && allowance?.remaining !== 0);
      if (mayConcernOne)
        throw new ServiceError("throttled", detail, { ...context, resumeAt, isUnexplained: true });
      return { do: "wait", retryAt: resumeAt, error: failure("throttled", resumeAt) };
    }
    case "retry":
      throw failure("busy");
  }
  if (status >= 500 || status === 408) throw failure("server-error");
  if (!isFromService(head, wire, body)) throw failure("not-the-api");
  if (status === 404 || status === 410)
    return { do: "return", fetched: { outcome: "gone", fetchedAt: toIso(request.clock.now()) } };
  throw failure(status === 403 ? "forbidden" : "unexpected-status");
}

/** An error page of a proxy must not be taken for a deletion. */
function isFromService({ headers }: ResponseHead, wire: Uint8Array, body: unknown): boolean {
  if (wire.length === 0) return headers["content-type"] === undefined || isJsonType(headers["content-type"]);
  return body !== undefined;
}

/** The parsed body of an error; undefined if it is not from the service. */
function readErrorBody(head: ResponseHead, wire: Uint8Array, { finalUrl, limits }: SentRequest): unknown {
  try {
    return readJsonOrThrow(head, wire, finalUrl, limits).json;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

function notAuthenticated(context: ServiceErrorContext): ServiceError {
  return new ServiceError("not-authenticated", `not authenticated (answered ${context.status})`, context);
}

/** Short, and without characters that move a terminal's cursor or reverse its text. */
function toPrintable(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ");
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}
