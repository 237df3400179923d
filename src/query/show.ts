/** One resource as the mirror holds it: its row, links and pictures, its last change and where it comes from. */
import { sql } from "kysely";
import type { Cell } from "../../schema/fields.ts";
import { unfollowedUrlOf } from "../mirror/derive/links.ts";
import { prepare } from "../mirror/file/statements.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { joinMeasurements } from "./field-history.ts";
import type { ShownKind } from "./keys/find-by-key.ts";
import { findResource } from "./keys/resolve-key.ts";
import { type ListState, readListState } from "./lists/list-state.ts";
import { type ModelParts, readModelParts } from "./model-parts.ts";
import { type LastChange, type Provenance, readLastChange, readProvenance } from "./provenance.ts";
import { q } from "./views.ts";

/** What the mirror holds of a resource, and where it comes from. */
export interface HeldResource {
  readonly kind: ShownKind;
  /** By column of the kind's table. */
  readonly fields: Readonly<Record<string, Cell>>;
  /** `url` is null for a link to another origin, which is not followed. */
  readonly links: readonly { readonly name: string; readonly url: string | null }[];
  /** Only in a mirror that was synced with pictures, for a resource that refers to some. */
  readonly pictures?: readonly ShownPicture[];
  /** Only of a model. */
  readonly model?: ModelParts;
  /** Only of a brand. */
  readonly brand?: BrandParts;
  readonly source: Provenance;
}

/** A resource with all that is known of it, as `armoire show` shows it. */
export interface ShownResource extends HeldResource {
  /** Null if it has not changed since it was first fetched. */
  readonly lastChange: LastChange | null;
}

export interface BrandParts {
  readonly modelList: ListState;
  /** Listed ones, without those that are gone. */
  readonly models: { readonly known: number; readonly held: number };
}

export interface ShownPicture {
  /** JSON pointer into the body. */
  readonly field: string;
  readonly url: string;
  /** Relative to the mirror's folder; null until it is downloaded. */
  readonly file: string | null;
}

/**
 * Reads all that a mirror knows of one resource, also of one that is gone.
 * @param key a URL, or a key such as `brand/model`; null for the only resource of the kind
 * @throws KeyError if the key matches no resource, or several
 */
export function showResource(mirror: MirrorReader, kind: ShownKind, key: string | null): ShownResource {
  const { href } = findResource(mirror, kind, key);
  const { source, ...held } = readHeldResource(mirror, kind, href);
  return { ...held, lastChange: readLastChange(mirror, kind, href), source };
}

/** Without its history. @param href of a resource of this kind */
export function readHeldResource(mirror: MirrorReader, kind: ShownKind, href: string): HeldResource {
  const rows = readRows(mirror, kind, href);
  const links = readLinks(mirror, href);
  const source = readProvenance(mirror, href);
  const [fields = {}] = rows;
  if (kind === "measurement") {
    // `n` is its place in a list, not a field.
    const { n: _, ...own } = fields;
    const payload = joinMeasurements(rows.map((row) => String(row.payload)));
    return { kind, fields: { ...own, payload }, links, source };
  }
  const pictures = readPictures(mirror, href);
  return {
    ...{ kind, fields, links },
    ...(pictures.length > 0 && { pictures }),
    ...(kind === "model" && { model: readModelParts(mirror, href) }),
    ...(kind === "brand" && { brand: readBrandParts(mirror, href) }),
    source,
  };
}

/** Several rows for the URL of a list of measurements, else one. Raw SQL: the view depends on the kind. */
function readRows({ db }: MirrorReader, kind: ShownKind, href: string): Readonly<Record<string, Cell>>[] {
  const select = db.prepare<[string], Readonly<Record<string, unknown>>>(
    `select * from ${kind} where href = ?${kind === "measurement" ? " order by n" : ""}`,
  );
  return select
    .safeIntegers()
    .all(href)
    .map((row) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, fromStored(cell)])));
}

/** Raw: SQLite looks up the items of the brand's list, and not all models. */
function readBrandParts(mirror: MirrorReader, href: string): BrandParts {
  const models = mirror.db
    .prepare<[string], BrandParts["models"]>(
      `select count(*) as known, count(*) filter (where item.state = 'held') as held
       from _resource owner cross join _resource list on list.owner_id = owner.id and list.kind = 'models'
         cross join _resource item on item.owner_id = list.id and item.kind = 'model'
       where owner.url = ? and item.state not in ('gone', 'elsewhere')`,
    )
    .get(href) ?? { known: 0, held: 0 };
  return { modelList: readListState(mirror, href, "models"), models };
}

function readLinks({ db }: MirrorReader, href: string): ShownResource["links"] {
  return prepare(db, (p: { href: string }) =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_link as l", "l.from_id", "r.id")
      .leftJoin("_resource as t", "t.id", "l.to_id")
      .select([
        "l.name",
        sql<string | null>`coalesce(t.url, ${sql.raw(unfollowedUrlOf("l", "r"))})`.as("url"),
      ])
      .where("r.url", "=", p.href)
      .orderBy("l.name"),
  ).all({ href });
}

function readPictures({ db }: MirrorReader, href: string): ShownPicture[] {
  return prepare(db, (p: { href: string }) =>
    q
      .selectFrom("media")
      .select(["field", "url", "file"])
      .where("href", "=", p.href)
      .where("is_current", "=", 1)
      .orderBy("field")
      .orderBy("url"),
  ).all({ href });
}
