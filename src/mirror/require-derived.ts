import type { Connection } from "./connection.ts";
import { MirrorError } from "./errors.ts";
import { isRebuildDue } from "./rebuild.ts";

/**
 * Refuses a mirror of an earlier version that has no such table, or has not filled it yet.
 * @param lack what such a mirror does not do
 * @throws MirrorError `older`
 */
export function requireDerived(db: Connection, table: string, lack: string): void {
  const isThere = db.prepare("select 1 from sqlite_schema where name = ?").get(table) !== undefined;
  if (isThere && !isRebuildDue(db)) return;
  throw new MirrorError(
    "older",
    db.name,
    `The mirror is of an earlier version, which does not ${lack}`,
    "`armoire mirror rebuild` brings it up to date, and so does the next sync.",
  );
}
