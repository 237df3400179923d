/** The public views that queries of this folder read, as Kysely sees them; `schema/views.ts` defines them. */
import type { MirrorTables } from "../../schema/tables.ts";
import { queryBuilder } from "../mirror/file/statements.ts";

interface PublicViews {
  known: { kind: string; href: string; name: string | Uint8Array | null; state: string };
  coverage: { kind: string; known: number; held: number; due: number; failed: number; gone: number };
  bra: { href: string; gone_at: string | null };
  measurement: { href: string; gone_at: string | null };
  media: { href: string; field: string; url: string; file: string | null; is_current: 0 | 1 };
}

/** Builds queries over a mirror's tables and views. */
export const q = queryBuilder<MirrorTables & PublicViews>();
