interface FetchedBody {
  readonly outcome: "body";
  /** The address that was asked for. */
  readonly url: string;
  /** The address that answered, after redirects: relative links in the body are resolved against it. */
  readonly finalUrl: string;
  readonly status: number;
  readonly etag: string | null;
  /** Decoded, else verbatim: valid UTF-8, one JSON object, in a buffer of its own. */
  readonly body: Uint8Array;
}

interface FetchedNotModified {
  readonly outcome: "not-modified";
  readonly url: string;
  readonly etag: string | null;
}

interface FetchedGone {
  readonly outcome: "gone";
  readonly url: string;
  readonly status: 404 | 410;
}

/**
 * What one fetch brought. All of it is plain data; `json` is the parse that the door needed anyway, with numbers as
 * doubles: whoever keeps a body parses it again, exactly.
 */
export type FetchResponse =
  | (FetchedBody & { readonly json: Readonly<Record<string, unknown>> })
  | FetchedNotModified
  | FetchedGone;
