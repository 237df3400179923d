import type { Connection } from "../../mirror/file/connection.ts";
import { type Cycle, prepareFrontier, readCycle, type Scope } from "../../mirror/frontier.ts";

/** The cycle that a run of this mode goes on with; null when the last one is over, or was of another mode. */
export function readPresentCycle(db: Connection, scope: Scope, mode: Cycle["mode"]): Cycle | null {
  const cycle = readCycle(db);
  if (cycle === null || cycle.mode !== mode) return null;
  return prepareFrontier(db, scope, cycle).isDone ? null : cycle;
}
