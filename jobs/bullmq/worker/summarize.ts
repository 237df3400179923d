/**
 * What came of a request, for people who read its job. In: the response. Out: a summary, or why the resource could not be
 * fetched, as the log of the run says it too. Nothing is decided here: the coordinator interprets the response itself.
 */
import {
  NotAnEnvelopeError,
  requireEnvelopeOrThrow,
  requireSingleValuesOrThrow,
  UnexpectedRelError,
} from "../../../schema/envelope.ts";
import { JsonError, parseJsonBytesOrThrow } from "../../../schema/json.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import { readReport } from "../../../src/service/requests/attempt.ts";
import {
  interpretResponse,
  readEnvelopeBodyOrThrow,
  redirects,
} from "../../../src/service/requests/interpret-response.ts";
import { defaultRetryPolicy } from "../../../src/service/requests/retry-policy.ts";
import { defaultLimits } from "../../../src/service/transport/pool.ts";
import type { RawResponse, ResponseHead } from "../../../src/service/transport/send-request.ts";
import { kinds } from "../../kinds.ts";
import type { FetchPayload, FetchSummary } from "../protocol.ts";

type Fetched = Pick<FetchPayload, "kind" | "url" | "isFreeIfUnchanged">;

export const nothingSent = { status: null, bytes: 0, milliseconds: 0, counted: 0 } as const;

/**
 * The return value of a job.
 * @param response null if nothing was sent
 * @param isPrivate whether it is about a person: then the reason has no words of the service
 * @throws Error with the reason if the resource could not be fetched; the job then counts as failed
 */
export function summarizeOrThrow(
  fetched: Fetched,
  response: RawResponse | null,
  milliseconds: number,
  isPrivate: boolean,
): FetchSummary {
  if (response === null) return { ...nothingSent, outcome: "not sent", milliseconds };
  const { head, wire, failure } = response;
  try {
    if (failure !== null) throw failure;
    const outcome = outcomeOrThrow(fetched, head, wire);
    const { status } = head;
    const counted = status === 304 && fetched.isFreeIfUnchanged ? 0 : 1;
    return { outcome, status, bytes: wire.length, milliseconds, counted };
  } catch (error) {
    const { code, detail } = explain(error);
    throw new Error(isPrivate ? code : `${code}: ${detail}`, { cause: error });
  }
}

/** @throws ServiceError, NotAnEnvelopeError, UnexpectedRelError, JsonError */
function outcomeOrThrow(
  { kind, url }: Fetched,
  head: ResponseHead,
  wire: Uint8Array,
): FetchSummary["outcome"] {
  const { status } = head;
  if (status === 200) {
    const { bytes, json } = readEnvelopeBodyOrThrow(head, wire, url, defaultLimits);
    requireSingleValuesOrThrow(parseJsonBytesOrThrow(bytes));
    requireEnvelopeOrThrow(json, kinds[kind]);
    return "body";
  }
  if (status === 304) return "not modified";
  if (redirects.includes(status)) return "redirect";
  const action = interpretResponse(head, wire, readReport(head, systemClock.now()), {
    ...{ url, finalUrl: url, etag: null, lastModified: null, waits: 0, isExamined: false },
    ...{ limits: defaultLimits, maxRetryAfterMillis: defaultRetryPolicy.maxRetryAfterMillis },
    clock: systemClock,
    // The transport has removed the credential.
    redact: (text) => text,
  });
  if (action.do === "wait") throw action.error;
  return "gone";
}

function explain(error: unknown): { readonly code: string; readonly detail: string } {
  if (error instanceof ServiceError) return error;
  if (
    error instanceof NotAnEnvelopeError ||
    error instanceof UnexpectedRelError ||
    error instanceof JsonError
  )
    return { code: "contract", detail: error.message };
  throw error;
}
