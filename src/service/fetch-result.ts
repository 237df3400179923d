/**
 * The result of fetching one resource. Plain data: it can be sent between processes, stored and replayed, so the client and
 * the mirror do not know each other.
 */

interface Fetched {
  /** ISO 8601, UTC. */
  readonly fetchedAt: string;
}

/** Headers of a response that are kept beside its body; null if missing or unreadable. */
export interface KeptHeaders {
  /** `Date`: ISO 8601, UTC. */
  readonly sentAt: string | null;
  /** `Last-Modified`: ISO 8601, UTC. */
  readonly modifiedAt: string | null;
  /** `Content-Type` as sent. */
  readonly contentType: string | null;
  /** `Link` as sent. */
  readonly link: string | null;
}

export interface FetchedBody extends Fetched {
  readonly outcome: "body";
  readonly status: number;
  /** The validator for the next request: the tag, or without one the `Last-Modified`. */
  readonly etag: string | null;
  readonly headers: KeptHeaders;
  /** The final address, if it was redirected: relative links in the body are resolved against it. */
  readonly finalUrl?: string;
  /** As sent, decoded from any content encoding: valid UTF-8, one JSON object, in a buffer of its own. */
  readonly body: Uint8Array;
}

/** The body that the caller holds is current. */
export interface FetchedNotModified extends Fetched {
  readonly outcome: "not-modified";
}

/** The service has no such resource, or no longer (404 or 410). */
export interface FetchedGone extends Fetched {
  readonly outcome: "gone";
}

/** The service refuses this list of a user to the user's token, which it accepts for others. */
export interface FetchRefused extends Fetched {
  readonly outcome: "refused";
}

/** No usable response; a later run tries again. */
export interface FetchFailed extends Fetched {
  readonly outcome: "failed";
  readonly code: string;
  readonly message: string;
  /** Of the response, if it is what failed. */
  readonly status?: number;
}

/** The service answers others, and asks to request this one later. */
export interface FetchPostponed extends Fetched {
  readonly outcome: "postponed";
  readonly message: string;
  /** ISO 8601, UTC. */
  readonly retryAt: string;
}

export type FetchResponse = FetchedBody | FetchedNotModified | FetchedGone;

export type FetchResult = FetchResponse | FetchRefused | FetchFailed | FetchPostponed;
