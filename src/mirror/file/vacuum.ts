/** Giving the space of what is no longer in a mirror back to the file system. */
import type { Connection } from "./connection.ts";

/**
 * SQLite writes the file anew as one transaction: until that is committed the old one stands, whatever ends it, and readers
 * see the old one too. It takes as much free space meanwhile as the new file does twice.
 * @returns whether the file is the new one; while somebody reads the old one, that waits for who writes next
 */
export function vacuum(db: Connection): boolean {
  db.exec("vacuum");
  const timeout = db.pragma("busy_timeout", { simple: true });
  // Whoever reads is not waited for.
  db.pragma("busy_timeout = 0");
  const [{ busy }] = db.pragma("wal_checkpoint(truncate)") as [{ busy: number }];
  db.pragma(`busy_timeout = ${timeout}`);
  return busy === 0;
}
