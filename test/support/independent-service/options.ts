/**
 * What the specification leaves open and this service decides. The defaults are the less usual choices;
 * `CHOICES.md` lists them with the lines of the specification.
 */

/** The number of counted requests that a window allows. */
export interface Allowance {
  readonly requests: number;
  readonly windowMs: number;
  /** "fixed": windows start at multiples of their length. "first-request": a window starts with a request. */
  readonly start: "fixed" | "first-request";
  /** Whether each value of `Authorization` has its own allowance, or all share one. */
  readonly per: "credential" | "service";
  /** Other numbers of requests, by value of `Authorization`. */
  readonly others?: Readonly<Record<string, number>>;
}

export interface Options {
  /** Milliseconds since 1970. Also the time in the `Date` field of responses. */
  readonly now: () => number;
  /** The prefix of the `<name>_url` fields. */
  readonly serviceName: string;
  /** "own": paths without meaning, the kind in the query. "specified": the paths of section 4. */
  readonly layout: "own" | "specified";
  readonly basePath: string;
  /** Whether addresses in bodies have a scheme and a host, or only a path. */
  readonly addresses: "absolute" | "relative";
  readonly pageSize: number;
  /** The collections that have pages, besides the models of a brand. */
  readonly paged: readonly ("brands" | "sizes" | "measurements")[];
  /** "recent": last changed first, so that an edit moves an entry between pages. */
  readonly order: "recent" | "name";
  /** Cursors end with the window of this length in which they were given; null: they never end. */
  readonly cursorWindowMs: number | null;
  /** The status for a cursor that has ended. */
  readonly endedCursor: 400 | 404 | 410;
  /** What `page_total` counts: pages, or the entries of this page. */
  readonly pageTotal: "pages" | "entries";
  /** What `collection_total` counts: the entries of all pages, or of this page. */
  readonly collectionTotal: "collection" | "page";
  /** Whether the last page can be empty: `next` is set on each full page. */
  readonly emptyLastPage: boolean;
  /** How a length that nobody measured is sent. */
  readonly unmeasured: "absent" | "null";
  /** The field of a size entity that holds the label. */
  readonly sizeLabel: "label" | "size";
  /** Whether entries of the measurements collection have an `href`, or are whole in the collection. */
  readonly measurements: "linked" | "inline";
  /** The answer to a token without the scope. "empty": a collection without entries. */
  readonly refusedScope: 401 | 403 | 404 | "empty" | "no-link";
  /** The status of the response without a valid token. */
  readonly noToken: 200 | 401 | 403 | 404;
  /** The status for an address without an item. */
  readonly removed: 404 | 410;
  readonly validators: "etag" | "last-modified" | "both" | "none";
  /** Whether entity tags differ in each response with the same body. */
  readonly rotatingTags: boolean;
  readonly gzip: boolean;
  readonly allowance: Allowance | null;
  /** How the allowance is told in header fields. */
  readonly allowanceFields: "ietf" | "ietf-three" | "x-epoch" | "x-used" | "none";
  /** The status past the allowance. */
  readonly refusal: 403 | 429 | 503;
  readonly retryAfter: "seconds" | "date" | "none";
  /** Whether a condition is still answered with 304 past the allowance. */
  readonly answersUnchangedWhenSpent: boolean;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

export const defaults: Options = {
  now: Date.now,
  serviceName: "lace_fit",
  layout: "own",
  basePath: "/lace/api",
  addresses: "absolute",
  pageSize: 4,
  paged: ["brands", "sizes", "measurements"],
  order: "recent",
  cursorWindowMs: null,
  endedCursor: 404,
  pageTotal: "pages",
  collectionTotal: "collection",
  emptyLastPage: true,
  unmeasured: "absent",
  sizeLabel: "label",
  measurements: "linked",
  refusedScope: 404,
  noToken: 403,
  removed: 404,
  validators: "etag",
  rotatingTags: false,
  gzip: true,
  allowance: null,
  allowanceFields: "ietf",
  refusal: 429,
  retryAfter: "none",
  answersUnchangedWhenSpent: false,
};
