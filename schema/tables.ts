/** The mirror's bookkeeping tables as Kysely sees them; `docs/schema.md` says what each column means. */
import type { Generated } from "kysely";

export type ResourceState = "due" | "held" | "failed" | "elsewhere" | "superseded" | "gone";

/** What says that a resource is absent: its own 404 or 410, a list that names it no more, or the absence of what it belongs to. */
export type AbsenceProof = "answer" | "listing" | "parent";

export interface MirrorTables {
  _meta: { key: string; value: string };
  _run: RunTable;
  _resource: ResourceTable;
  _content: ContentTable;
  _dictionary: { id: Generated<number>; kind: string; sha256: Uint8Array; body: Uint8Array };
  _revision: RevisionTable;
  _resource_past: Past<Pick<ResourceTable, "kind" | "owner_id" | "state" | "gone_run">> & { id: number };
  _link: LinkTable;
  _link_past: Past<LinkTable>;
  _pass: PassTable;
  _page: { id: number; collection_id: number; next_id: number | null; total: number | null };
  _member: MemberTable;
  _member_past: Past<MemberTable>;
  _search: SearchTable;
  _media: MediaTable;
  _media_file: MediaFileTable;
  _media_use: { resource_id: number; field: string; media_id: number; is_current: 0 | 1 };
  _issue: { resource_id: number; pointer: string; code: string; detail: string | null; run_id: number };
}

export interface RunTable {
  id: Generated<number>;
  started_at: string;
  ended_at: string | null;
  mode: string;
  scope_json: string;
  stopped: string | null;
  counts_json: string | null;
  /** When it was forgotten: its state can be shown no more. */
  forgotten_at: string | null;
}

export interface ResourceTable {
  id: Generated<number>;
  url: string;
  kind: string;
  owner_id: number | null;
  state: ResourceState;
  etag: string | null;
  checked_run: Generated<number>;
  /** Milliseconds since 1970, as all times of the large tables. */
  checked_at: number | null;
  first_run: number;
  gone_run: number | null;
  attempts: Generated<number>;
  error: string | null;
  absent_run: number | null;
  absent_by: AbsenceProof | null;
  fetched_run: Generated<number>;
}

/** A reading of a collection that left something open; a settled one has no row. */
export interface PassTable {
  collection_id: number;
  verdict: "open" | "partial";
  /** Pages that were checked in an earlier run are not part of it. */
  from_run: number;
  /** The last run in which all pages were asked for a second time. */
  reread_run: number | null;
  /** Which revisions of which pages were judged last, as JSON. */
  judged: string | null;
}

export interface ContentTable {
  id: Generated<number>;
  /** Of the body as sent. */
  sha256: Uint8Array;
  codec: string;
  /** Bytes as sent. */
  size: number;
  body: Uint8Array;
  dictionary_id: number | null;
}

export interface RevisionTable {
  resource_id: number;
  seq: number;
  content_id: number;
  from_run: number;
  to_run: number | null;
  status: number;
  fetched_at: number;
  /** What relative links in the body are relative to, where a redirect led away from the resource's own URL. */
  base_url: string | null;
  /** When it was last found to be current; null while it is. */
  seen_run: number | null;
  seen_at: number | null;
}

export interface LinkTable {
  from_id: number;
  name: string;
  kind: string;
  to_id: number | null;
  noted_url: string | null;
  from_run: number;
}

export interface MemberTable {
  page_id: number;
  n: number;
  item_id: number | null;
  name: string | Uint8Array | null;
  from_run: number;
}

/** The words of a resource: its own, or those that lists name it with as long as it was never held. */
export interface SearchTable {
  id: Generated<number>;
  resource_id: number;
  kind: string;
  /** What `toSearchText` makes. */
  text: string;
  from_run: number;
  /** Null while it is so. */
  to_run: number | null;
}

/** A picture's address. */
export interface MediaTable {
  id: Generated<number>;
  url: string;
  etag: string | null;
  last_modified: string | null;
  /** When it was last asked for; null before that. */
  checked_at: number | null;
  /** Why there was nothing to keep the last time. */
  error: string | null;
}

/** What was downloaded from there; the last one is what it has now. */
export interface MediaFileTable {
  media_id: number;
  seq: number;
  sha256: Uint8Array;
  type: string;
  size: number;
  fetched_at: number;
}

/** Rows as they were, from `from_run` up to, but not including, `to_run`. */
export type Past<Table> = Table & { to_run: number };

/**
 * Times that every row of a large table has are kept as milliseconds since 1970: six bytes where text takes 24, ten
 * thousands of times over.
 */

/** The columns that hold such times. */
export const timeColumns: ReadonlySet<string> = new Set(["checked_at", "fetched_at", "seen_at"]);

/** SQL that gives such a time as ISO 8601, UTC. */
export const isoTimeOf = (millis: string): string =>
  `strftime('%Y-%m-%dT%H:%M:%fZ', ${millis} / 1000.0, 'unixepoch')`;

/** SQL that gives milliseconds since 1970 of a time that is kept as ISO 8601. */
export const millisOf = (iso: string): string => `cast(round(unixepoch(${iso}, 'subsec') * 1000) as integer)`;
