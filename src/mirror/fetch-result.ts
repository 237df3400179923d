/**
 * What came of one fetch job, as plain data: it can be sent between processes, stored and replayed. Ingest needs nothing
 * else, so fetching and saving do not know each other.
 */

export type FetchResult = FetchedBody | FetchedNotModified | FetchedGone | FetchFailed;

interface OfResource {
  readonly resourceId: number;
  /** ISO 8601, UTC. */
  readonly fetchedAt: string;
}

export interface FetchedBody extends OfResource {
  readonly outcome: "body";
  readonly status: number;
  readonly etag: string | null;
  /** Where redirects led to, if anywhere: what relative links in the body are relative to. */
  readonly finalUrl?: string;
  /** Verbatim, decoded from any content encoding. */
  readonly body: Uint8Array;
}

/** The service says that what is held is still so. */
export interface FetchedNotModified extends OfResource {
  readonly outcome: "not-modified";
}

/** The service says that there is no such resource (any more). */
export interface FetchedGone extends OfResource {
  readonly outcome: "gone";
}

/** No usable answer; the resource is tried again in a later run. */
export interface FetchFailed extends OfResource {
  readonly outcome: "failed";
  readonly code: string;
  readonly message: string;
}
