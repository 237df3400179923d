/** Times of rows as they are shown, also in a mirror that no version has written which keeps them as numbers. */
import { isoTimeOf } from "../../../schema/stored-time.ts";
import type { Connection } from "../file/connection.ts";
import { tooOld } from "../rows/require-derived.ts";

/** Gives SQL that shows such a time, of a column or an expression, as ISO 8601, UTC. */
export function prepareShowTime(db: Connection): (time: string) => string {
  return areNumbers(db) ? isoTimeOf : (time) => time;
}

/** @throws MirrorError `older` where times cannot be reckoned with */
export function requireRowTimes(db: Connection): void {
  if (!areNumbers(db)) throw tooOld(db, "plan");
}

function areNumbers(db: Connection): boolean {
  return (
    db
      .prepare(
        "select 1 from pragma_table_info('_resource', 'main') where name = 'checked_at' and type = 'INTEGER'",
      )
      .get() !== undefined
  );
}
