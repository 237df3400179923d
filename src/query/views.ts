/** The public views that queries of this folder read, as Kysely sees them; `schema/views.ts` defines them. */
import type { Field } from "../../schema/entities/tables.ts";
import type { MirrorTables } from "../../schema/tables.ts";
import { queryBuilder } from "../mirror/queries/query-builder.ts";

export interface PublicViews {
  brand: { href: string; name: Field; default_sizing_system: Field };
  model: { href: string; brand_href: string | null; name: Field; full_name: Field };
  model_picture: { model_href: string; n: number; url: Field; text: Field };
  size: {
    href: string;
    model_href: string | null;
    size: Field;
    band: Field;
    cup: Field;
    bra_count: Field;
    gone_at: string | null;
  };
  relation: { href: string; name: string; related_href: string };
  known: {
    kind: string;
    href: string;
    name: string | Uint8Array | null;
    state: string;
    owner_href: string | null;
  };
  coverage: { kind: string; known: number; held: number; due: number; failed: number; gone: number };
  bra: { href: string; gone_at: string | null };
  measurement: { href: string; gone_at: string | null };
  media: { href: string; field: string; url: string; file: string | null; is_current: 0 | 1 };
}

/** Builds queries over a mirror's tables and views. */
export const q = queryBuilder<MirrorTables & PublicViews>();
