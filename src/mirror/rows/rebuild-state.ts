import type { Connection } from "../file/connection.ts";
import { MirrorError } from "../file/errors.ts";
import { readMeta, removeMeta } from "../file/meta.ts";

/** Whether the mirror has such a table, and has filled it: not before a version that knows it has opened it for writing. */
export function isDerived(db: Connection, table: string): boolean {
  return (
    db.prepare("select 1 from sqlite_schema where name = ?").get(table) !== undefined && !isRebuildDue(db)
  );
}

/**
 * Refuses a mirror of an earlier version that has no such table, or has not filled it yet.
 * @param lack what such a mirror does not do
 * @throws MirrorError `older`
 */
export function requireDerived(db: Connection, table: string, lack: string): void {
  if (!isDerived(db, table)) throw tooOld(db, lack);
}

/** @param lack what such a mirror does not do */
export function tooOld(db: Connection, lack: string): MirrorError {
  return new MirrorError(
    "older",
    db.name,
    `The mirror is of an earlier version, which does not ${lack}`,
    "`armoire mirror rebuild` brings it up to date, and so does the next sync.",
  );
}

/** @throws MirrorError `older` */
export function requireHistory(db: Connection): void {
  requireDerived(db, "_resource_past", "show the past");
}

/** Whether what is derived from bodies is to be computed anew. */

/** A migration leaves this in `_meta` where rows that it needs are in the bodies alone. */
const rebuildDue = "rebuild_due";

export function isRebuildDue(db: Connection): boolean {
  return readMeta(db, rebuildDue) !== null;
}

export function noteRebuilt(db: Connection): void {
  removeMeta(db, rebuildDue);
}
