/** What the mirror holds from shared snapshots, and how far the service has confirmed it. */
import type { Connection } from "../file/connection.ts";
import { prepareColumn, q } from "../file/statements.ts";

/** Whether the mirror holds a revision that came from a snapshot. */
export const hasLoaded = (db: Connection): boolean =>
  prepareColumn(db, () => q.selectFrom("_loaded").select("snapshot_id").limit(1)).get() !== undefined;
