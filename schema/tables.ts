/** The mirror's bookkeeping tables as Kysely sees them; `docs/schema.md` says what each column means. */
import type { Generated } from "kysely";

export type ResourceState = "due" | "held" | "failed" | "elsewhere" | "superseded" | "gone";

export interface MirrorTables {
  _meta: { key: string; value: string };
  _run: RunTable;
  _resource: ResourceTable;
  _content: { id: Generated<number>; sha256: Uint8Array; codec: string; size: number; body: Uint8Array };
  _revision: RevisionTable;
  _link: { from_id: number; name: string; kind: string; to_id: number | null; noted_url: string | null };
  _page: { id: number; collection_id: number; next_id: number | null; total: number | null };
  _member: { page_id: number; n: number; item_id: number | null; name: string | Uint8Array | null };
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
}

export interface ResourceTable {
  id: Generated<number>;
  url: string;
  kind: string;
  owner_id: number | null;
  state: ResourceState;
  etag: string | null;
  checked_run: Generated<number>;
  checked_at: string | null;
  first_run: number;
  gone_run: number | null;
  attempts: Generated<number>;
  error: string | null;
}

export interface RevisionTable {
  resource_id: number;
  seq: number;
  content_id: number;
  from_run: number;
  to_run: number | null;
  status: number;
  fetched_at: string;
  /** What relative links in the body are relative to, where a redirect led away from the resource's own URL. */
  base_url: string | null;
}
