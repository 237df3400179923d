/** Whether what is derived from bodies is to be computed anew. */
import type { Connection } from "../file/connection.ts";
import { readMeta, removeMeta } from "../file/meta.ts";

/** A migration leaves this in `_meta` where rows that it needs are in the bodies alone. */
const rebuildDue = "rebuild_due";

export function isRebuildDue(db: Connection): boolean {
  return readMeta(db, rebuildDue) !== null;
}

export function noteRebuilt(db: Connection): void {
  removeMeta(db, rebuildDue);
}
