/** The public tables as rows to read or export: ordered by key, values exact, and without what no two runs share. */
import { listTables } from "../../schema/entities.ts";
import type { Cell } from "../../schema/fields.ts";
import type { Area } from "../../schema/kind.ts";
import { fromStored } from "./cell.ts";
import type { MirrorReader } from "./mirror.ts";

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
 * Every public table of the mirror's area. `checked_at` is left out, since it changes with every check while the state
 * stays the same.
 */
export function publicTables(mirror: MirrorReader): PublicTable[] {
  return tablesOfArea[mirror.identity.area].map((name) => {
    const columns = mirror.db
      .prepare<[], string>(
        `select name from pragma_table_info('${name}') where name <> 'checked_at' order by cid`,
      )
      .pluck()
      .all();
    const key = keyOf(name);
    return {
      name,
      columns,
      *rows() {
        const statement = mirror.db
          .prepare(`select ${columns.join(", ")} from ${name} order by ${key}`)
          .raw()
          .safeIntegers();
        for (const row of statement.iterate() as Iterable<unknown[]>) {
          // In place: most of what is read has nothing to turn into something else.
          for (const [n, stored] of row.entries()) if (Buffer.isBuffer(stored)) row[n] = fromStored(stored);
          yield row as Cell[];
        }
      },
    };
  });
}

function keyOf(table: string): string {
  if (table === "relation") return "href, name, related_href";
  if (table === "measurement_value") return "href, n, name, typeof(value), value";
  return listTables.some((list) => list.table === table) ? "1, n" : "href";
}
