/** The public tables as rows to read or export: ordered by key, values exact, and without what no two runs share. */
import { listTables } from "../../schema/entities.ts";
import type { Cell } from "../../schema/fields.ts";
import type { Area } from "../../schema/kind.ts";
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

/**
 * Every public table of the mirror's area, and `media` where pictures are known. `checked_at` is left out, since it changes with
 * every check while the state stays the same.
 */
export function publicTables(mirror: MirrorReader): PublicTable[] {
  const names = tablesOfArea[mirror.identity.area];
  return [...names, ...(hasPictures(mirror) ? ["media"] : [])].map((name) => tableOf(mirror, name));
}

/** The tables of a catalogue with only the rows about these resources, and without what leads to others. */
export function tablesAbout(mirror: MirrorReader, hrefs: readonly string[]): PublicTable[] {
  return tablesOfArea.catalogue
    .filter((name) => name !== "relation")
    .map((name) => tableOf(mirror, name, hrefs));
}

/** @param hrefs all rows unless told */
function tableOf({ db }: MirrorReader, name: string, hrefs?: readonly string[]): PublicTable {
  const columns = db
    .prepare<[], string>(
      `select name from pragma_table_info('${name}') where name <> 'checked_at' order by cid`,
    )
    .pluck()
    .all();
  // The first column of each is whose row it is.
  const condition = hrefs === undefined ? "" : `where ${columns[0]} in (select value from json_each(?))`;
  const given = hrefs === undefined ? [] : [JSON.stringify(hrefs)];
  return {
    name,
    columns,
    *rows() {
      const statement = db
        .prepare(`select ${columns.join(", ")} from ${name} ${condition} order by ${keyOf(name)}`)
        .raw()
        .safeIntegers();
      for (const row of statement.iterate(...given) as Iterable<unknown[]>) {
        // In place: most of what is read has nothing to turn into something else.
        for (const [n, stored] of row.entries()) if (Buffer.isBuffer(stored)) row[n] = fromStored(stored);
        yield row as Cell[];
      }
    },
  };
}

/** What was known of pictures at an earlier time is not remembered. */
function hasPictures({ db, identity, asOf }: MirrorReader): boolean {
  if (identity.area !== "account" || asOf !== null) return false;
  return db.prepare("select 1 from _media_use limit 1").get() !== undefined;
}

function keyOf(table: string): string {
  if (table === "media") return "href, field, url";
  if (table === "relation") return "href, name, related_href";
  if (table === "measurement_value") return "href, n, name, typeof(value), value";
  return listTables.some((list) => list.table === table) ? "1, n" : "href";
}
