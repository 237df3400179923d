/** The public tables as rows for exports and comparisons: ordered by key, with exact values. */
import { listTables } from "../../schema/entities.ts";
import type { Cell } from "../../schema/fields.ts";
import type { Area } from "../../schema/kind.ts";
import { prepare, q } from "./file/statements.ts";
import type { MirrorReader } from "./reader.ts";
import { fromStored } from "./rows/cells.ts";

export interface PublicTable {
  readonly name: string;
  readonly columns: readonly string[];
  rows(): Iterable<readonly Cell[]>;
}

const tablesOfArea: Readonly<Record<Area, readonly string[]>> = {
  catalogue: ["brand", "model", "model_picture", "size", "relation"],
  account: ["user", "bra", "bra_size", "measurement", "measurement_value"],
};

/** All public tables of the mirror's area, and `media` if there are pictures. */
export function publicTables(mirror: MirrorReader): PublicTable[] {
  const names = tablesOfArea[mirror.identity.area];
  return [...names, ...(hasPictures(mirror) ? ["media"] : [])].map((name) => tableOf(mirror, name));
}

/** The tables of a catalogue with only the rows of these resources; without `relation`, which refers to others. */
export function tablesAbout(mirror: MirrorReader, hrefs: readonly string[]): PublicTable[] {
  return tablesOfArea.catalogue
    .filter((name) => name !== "relation")
    .map((name) => tableOf(mirror, name, hrefs));
}

/**
 * Without `checked_at`, which changes with every check although the data stays the same.
 * @param hrefs default: all rows
 */
function tableOf({ db }: MirrorReader, name: string, hrefs?: readonly string[]): PublicTable {
  // Raw, since the table is given by name.
  const columns = db
    .prepare<[], string>(
      `select name from pragma_table_info('${name}') where name <> 'checked_at' order by cid`,
    )
    .pluck()
    .all();
  // The first column of each table is the URL of the row's resource.
  const condition = hrefs === undefined ? "" : `where ${columns[0]} in (select value from json_each(?))`;
  const values = hrefs === undefined ? [] : [JSON.stringify(hrefs)];
  return {
    name,
    columns,
    *rows() {
      const statement = db
        .prepare(`select ${columns.join(", ")} from ${name} ${condition} order by ${keyOf(name)}`)
        .raw()
        .safeIntegers();
      for (const row of statement.iterate(...values) as Iterable<unknown[]>) {
        // In place, since most rows need no conversion.
        for (const [n, stored] of row.entries()) if (Buffer.isBuffer(stored)) row[n] = fromStored(stored);
        yield row as Cell[];
      }
    },
  };
}

/** Earlier states of pictures are not recorded. */
function hasPictures({ db, identity, asOf }: MirrorReader): boolean {
  if (identity.area !== "account" || asOf !== null) return false;
  return prepare(db, () => q.selectFrom("_media_use").select("media_id").limit(1)).get() !== undefined;
}

function keyOf(table: string): string {
  if (table === "media") return "href, field, url";
  if (table === "relation") return "href, name, related_href";
  if (table === "measurement_value") return "href, n, name, typeof(value), value";
  return listTables.some((list) => list.table === table) ? "1, n" : "href";
}
