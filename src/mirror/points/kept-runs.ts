/** Which runs can still be shown. */
import type { Connection } from "../file/connection.ts";

/** SQL over `_run` that is true for what is not forgotten; in a mirror of an earlier version that is everything. */
export function isKept(db: Connection): string {
  const canForget = db.prepare("select 1 from pragma_table_info('_run') where name = 'forgotten_at'").get();
  return canForget === undefined ? "true" : "forgotten_at is null";
}
