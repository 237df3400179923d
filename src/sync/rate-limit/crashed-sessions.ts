/**
 * Who holds leases: a session is one run in one process. A process that is dead does not settle what it holds; that it
 * is dead can be known on this machine only, and for sure, unless its number was given to another process since.
 */
import { hostname } from "node:os";
import { dayMillis } from "../../platform/clock.ts";
import { isProcessAlive } from "../../platform/process-lock.ts";
import type { LedgerDatabase } from "./ledger-file.ts";

interface SessionRow {
  readonly pid: number;
  readonly host: string;
  readonly seen_at: number;
}

export interface Sessions {
  /** Notes that this session is alive. */
  note(id: string, now: number): void;
  isDead(id: string, now: number): boolean;
  end(id: string): void;
  /** Forgets those that are dead; what they still hold is known by that they are not there. */
  forgetDead(now: number): void;
}

/** Sessions of this very process: its number alone would not tell them from those of a dead one that had it before. */
const own = new Set<string>();

export function prepareSessions(db: LedgerDatabase): Sessions {
  const upsert = db.prepare<[string, number, string, number]>(
    "insert into session values (?, ?, ?, ?) on conflict (id) do update set seen_at = excluded.seen_at",
  );
  const select = db.prepare<[string], SessionRow>("select pid, host, seen_at from session where id = ?");
  const selectIds = db.prepare<[], string>("select id from session").pluck();
  const remove = db.prepare<[string]>("delete from session where id = ?");
  const isDead = (id: string, now: number): boolean => {
    if (own.has(id)) return false;
    const row = select.get(id);
    // Unseen for a day, by whichever clock: no attempt lasts that long.
    if (row === undefined || Math.abs(now - row.seen_at) > dayMillis) return true;
    return row.host === hostname() && (row.pid === process.pid || !isProcessAlive(row.pid));
  };
  return {
    isDead,
    note(id, now) {
      own.add(id);
      upsert.run(id, process.pid, hostname(), now);
    },
    end(id) {
      own.delete(id);
      remove.run(id);
    },
    forgetDead(now) {
      for (const id of selectIds.all()) if (isDead(id, now)) remove.run(id);
    },
  };
}
