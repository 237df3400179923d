import { views } from "../../../schema/views.ts";
import type { Connection } from "../../../src/mirror/file/connection.ts";

/** All rows of every public view, without the columns that a mirror stores only for the present. */
export function publicState(db: Connection): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.keys(views).map((view) => {
      const columns = db
        .prepare<[], string>(`select name from pragma_table_info('${view}')`)
        .pluck()
        .all()
        .filter((name) => name !== "checked_at" && name !== "oldest_check_at");
      const rows = db
        .prepare(`select ${columns.join(", ")} from ${view}`)
        .raw()
        .safeIntegers()
        .all();
      const texts = rows.map((row) =>
        JSON.stringify(row, (_key, cell) => (typeof cell === "bigint" ? `${cell}n` : cell)),
      );
      return [view, texts.sort()];
    }),
  );
}
