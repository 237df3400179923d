/**
 * Leases of dead processes. A session is one run in one process. The leases that a dead process held count as spent, because
 * its requests may have reached the service.
 */
import { hostname } from "node:os";
import type { Connection } from "../../../mirror/file/connection.ts";
import { prepare, prepareColumn } from "../../../mirror/file/statements.ts";
import { dayMillis } from "../../../platform/clock.ts";
import { isProcessAlive } from "../../../platform/process-lock.ts";
import type { WindowState } from "../window.ts";
import { addUnreported, withoutLeases } from "../window-events.ts";
import { ledgerQuery } from "./tables.ts";

/**
 * The state without a dead session, whose leases count as spent. Pure.
 * @param now epoch milliseconds
 */
export function expireSession(state: WindowState, session: string, now: number): WindowState {
  const held = state.openLeases[session] ?? 0;
  const { min, max } = state.counted;
  const expired = {
    ...withoutLeases(state, session),
    seq: state.seq + 1,
    sinceReading: null,
    firstRequestAt: state.firstRequestAt ?? (held > 0 ? now : null),
    responses: { ...state.responses, others: state.responses.others + held },
    counted: { min, max: max + held },
  };
  return addUnreported(expired, held);
}

export interface Sessions {
  /** Records when a session of this process was last seen. */
  markAlive(id: string, now: number): void;
  isDead(id: string, now: number): boolean;
  end(id: string): void;
  /** Deletes the rows of dead sessions. Sessions without a row are dead, so leases that they still hold are found later. */
  deleteDead(now: number): void;
}

/** Sessions of this process: a dead process may have had the same process id. */
const ownSessions = new Set<string>();

export function prepareSessions(db: Connection): Sessions {
  const upsert = prepare(db, (p: { id: string; pid: number; host: string; now: number }) =>
    ledgerQuery
      .insertInto("session")
      .values({ id: p.id, pid: p.pid, host: p.host, seen_at: p.now })
      .onConflict((conflict) =>
        conflict.column("id").doUpdateSet((eb) => ({ seen_at: eb.ref("excluded.seen_at") })),
      ),
  );
  const select = prepare(db, (p: { id: string }) =>
    ledgerQuery.selectFrom("session").select(["pid", "host", "seen_at as seenAt"]).where("id", "=", p.id),
  );
  const selectIds = prepareColumn(db, () => ledgerQuery.selectFrom("session").select("id"));
  const remove = prepare(db, (p: { id: string }) => ledgerQuery.deleteFrom("session").where("id", "=", p.id));

  const isDead = (id: string, now: number): boolean => {
    if (ownSessions.has(id)) return false;
    const session = select.get({ id });
    // No request takes a day. A time in the future comes from a clock that was wrong.
    if (session === undefined || Math.abs(now - session.seenAt) > dayMillis) return true;
    // Whether a process is alive is known on its own machine only.
    if (session.host !== hostname()) return false;
    return session.pid === process.pid || !isProcessAlive(session.pid);
  };
  return {
    isDead,
    markAlive(id, now) {
      ownSessions.add(id);
      upsert.run({ id, pid: process.pid, host: hostname(), now });
    },
    end(id) {
      ownSessions.delete(id);
      remove.run({ id });
    },
    deleteDead(now) {
      for (const id of selectIds.all()) if (isDead(id, now)) remove.run({ id });
    },
  };
}
