/** The mirror's tables, typed for Kysely; `docs/schema.md` describes each column. */
import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type {
  BrandTable,
  BraSizeTable,
  BraTable,
  MeasurementTable,
  ModelPictureTable,
  ModelTable,
  SizeTable,
  UserTable,
} from "./entities/tables.ts";

/** Bytes: SQLite returns them as a Buffer, and accepts any byte array. */
type Blob = ColumnType<Buffer, Uint8Array, Uint8Array>;

export type ResourceState = "due" | "held" | "failed" | "elsewhere" | "superseded" | "gone";

/** The evidence that a resource is absent: its own 404 or 410, a listing without it, or the absence of its owner. */
export type AbsenceProof = "response" | "listing" | "parent";

/** A field or link that the specification does not have, or a field of another type. */
export type DriftCode = "unknown-field" | "unknown-link" | "wrong-type";

export interface MirrorTables {
  _meta: { key: string; value: string };
  _run: RunTable;
  _resource: ResourceTable;
  _content: ContentTable;
  _dictionary: { id: Generated<number>; kind: string; sha256: Blob; body: Blob };
  _headers: { id: Generated<number>; content_type: string | null; link: string | null };
  _revision: RevisionTable;
  _snapshot: SnapshotTable;
  _loaded: LoadedTable;
  _linked_check: LinkedCheckTable;
  _resource_past: Past<Pick<ResourceTable, "kind" | "owner_id" | "state" | "gone_run">> & { id: number };
  _link: LinkTable;
  _link_past: Past<LinkTable>;
  _pass: PassTable;
  _page: PageTable;
  _member: MemberTable;
  _member_past: Past<MemberTable>;
  _search: SearchTable;
  _media: MediaTable;
  _media_file: MediaFileTable;
  _media_use: { resource_id: number; field: string; media_id: number; is_current: 0 | 1 };
  _issue: { resource_id: number; pointer: string; code: string; detail: string | null; run_id: number };
  _drift: { kind: string; pointer: string; code: DriftCode; first_run: number };
  _brand: BrandTable;
  _brand_past: Past<BrandTable>;
  _model: ModelTable;
  _model_past: Past<ModelTable>;
  _model_picture: ModelPictureTable;
  _model_picture_past: Past<ModelPictureTable>;
  _size: SizeTable;
  _size_past: Past<SizeTable>;
  _user: UserTable;
  _user_past: Past<UserTable>;
  _bra: BraTable;
  _bra_past: Past<BraTable>;
  _bra_size: BraSizeTable;
  _bra_size_past: Past<BraSizeTable>;
  _measurement: MeasurementTable;
  _measurement_past: Past<MeasurementTable>;
}

export interface RunTable {
  id: Generated<number>;
  started_at: string;
  ended_at: string | null;
  mode: string;
  scope_json: string;
  stopped: string | null;
  counts_json: string | null;
  /** What the mirror held when the run closed, by kind (`KindCoverage`). */
  coverage_json: string | null;
  /** When the run was pruned: its state can no longer be shown. */
  pruned_at: string | null;
}

export interface ResourceTable {
  id: Generated<number>;
  url: string;
  kind: string;
  owner_id: number | null;
  state: ResourceState;
  etag: string | null;
  /** The run of the last check that still counts; 0 if it is to be requested. */
  checked_run: Generated<number>;
  /** The run of the last check. */
  last_checked_run: Generated<number>;
  /** Whether it is to be requested again. */
  recheck: GeneratedAlways<0 | 1>;
  /** Milliseconds since 1970, as all times of the large tables. */
  checked_at: number | null;
  first_run: number;
  gone_run: number | null;
  attempts: Generated<number>;
  error: string | null;
  absent_run: number | null;
  absent_by: AbsenceProof | null;
  fetched_run: Generated<number>;
  /** Before this time it is not to be requested. */
  retry_at: number | null;
}

export interface PageTable {
  id: number;
  collection_id: number;
  next_id: number | null;
  total: number | null;
  page_total: number | null;
  /** Why the body may be that of another page: it names a known resource, or an unknown address, as its own. */
  doubt: "other-page" | "other-address" | null;
}

/** A pass over a listing that is not complete; a complete one has no row. */
export interface PassTable {
  collection_id: number;
  status: "open" | "partial";
  /** Pages checked in an earlier run are not part of it. */
  from_run: number;
  /** The last run in which all pages were requested a second time. */
  reread_run: number | null;
  /** The revisions of the pages that were examined last, as JSON. */
  page_versions: string | null;
}

export interface ContentTable {
  id: Generated<number>;
  /** Of the body as sent. */
  sha256: Blob;
  codec: string;
  /** Bytes as sent. */
  size: number;
  body: Blob;
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
  /** What relative links in the body resolve against, if redirects led away from the resource's URL. */
  base_url: string | null;
  /** From the header `Date`. */
  sent_at: number | null;
  /** From the header `Last-Modified`. */
  modified_at: number | null;
  headers_id: number | null;
  /** The last one; null for the current revision, whose resource has it. */
  etag: string | null;
  /** The last run that found it unchanged; null for the current revision. */
  seen_run: number | null;
  seen_at: number | null;
}

/** A shared snapshot of which something was loaded. */
export interface SnapshotTable {
  id: Generated<number>;
  /** Lower-case hexadecimal. */
  root_hash: string;
  /** ISO 8601, the beginning of a day in UTC. */
  taken_on: string;
  /** The kind of credential with which its mirror was fetched. */
  seen_by: "none" | "app" | "token";
  /** The file's name or its URL. */
  source: string;
  /** The fingerprint of the key that signed it. */
  signed_by: string | null;
  /** Its number in a published folder. */
  sequence: number | null;
  /** Whether its validators are sent: `withheld` until a sample shows that the service gives us the same ones. */
  validators: Generated<"used" | "withheld">;
  /** Chosen at random after the snapshot was loaded, so that its maker could not know the sample. */
  sample_seed: string | null;
  sample_size: Generated<number>;
  /** ISO 8601, UTC: when the service sent another body under the same validator. */
  condemned_at: string | null;
  /** The URL of that resource. */
  condemned_by: string | null;
}

/** A revision that came from a snapshot; the service itself has sent all others. */
export interface LoadedTable {
  resource_id: number;
  seq: number;
  snapshot_id: number;
  /** The validator as the snapshot states it; that of the resource may be withheld. */
  etag: string | null;
  /** Whether it is part of the sample that is fetched whole. */
  sampled: Generated<0 | 1>;
  /** The first run in which the service confirmed the validator; null for none. */
  validator_run: number | null;
  /** The first run in which the service sent the same body; null for none. */
  bytes_run: number | null;
}

/** What runs over the lists knew of a resource that was requested for an account since. */
export interface LinkedCheckTable {
  resource_id: number;
  /** The revision; null for none. */
  seq: number | null;
  /** The run that had checked it; 0 for none. */
  checked_run: number;
  checked_at: number | null;
}

export interface LinkTable {
  from_id: number;
  name: string;
  kind: string;
  to_id: number | null;
  unfollowed_url: string | null;
  from_run: number;
}

export interface MemberTable {
  page_id: number;
  n: number;
  item_id: number | null;
  name: string | Uint8Array | null;
  from_run: number;
}

/** The words of a resource: from its row, or, until it is fetched, from the names in its listings. */
export interface SearchTable {
  id: Generated<number>;
  resource_id: number;
  kind: string;
  /** The result of `toSearchText`. */
  text: string;
  from_run: number;
  /** Null for the current words. */
  to_run: number | null;
}

/** A picture's address. */
export interface MediaTable {
  id: Generated<number>;
  url: string;
  etag: string | null;
  last_modified: string | null;
  /** When it was last requested; null before. */
  checked_at: number | null;
  /** Why the last request failed. */
  error: string | null;
}

/** The files downloaded from an address; the last one is current. */
export interface MediaFileTable {
  media_id: number;
  seq: number;
  sha256: Blob;
  type: string;
  size: number;
  fetched_at: number;
}

/** Rows as they were, from `from_run` up to, but not including, `to_run`. */
export type Past<Table> = Table & { to_run: number };

/** Columns of large tables with times as milliseconds since 1970: six bytes instead of 24 for text. */
export const timeColumns: ReadonlySet<string> = new Set([
  "checked_at",
  "retry_at",
  "fetched_at",
  "seen_at",
  "sent_at",
  "modified_at",
]);

/** SQL that converts milliseconds since 1970 to ISO 8601, UTC. */
export const isoTimeOf = (millis: string): string =>
  `strftime('%Y-%m-%dT%H:%M:%fZ', ${millis} / 1000.0, 'unixepoch')`;

/** SQL that converts ISO 8601 to milliseconds since 1970. */
export const millisOf = (iso: string): string => `cast(round(unixepoch(${iso}, 'subsec') * 1000) as integer)`;
