/**
 * The ledger: our record of what each service has granted to each credential, in one file for all processes and mirrors
 * that share it. In: changes to one window's state. Out: their results, once they are durable; each is one transaction,
 * so that no two processes lease the same request. It must not know what a request is for, and holds no credential, only
 * a digest.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { type Credential, digestCredential } from "../../service/credentials/credential.ts";
import { prepareSessions } from "./crashed-sessions.ts";
import { LedgerError, toLedgerError } from "./errors.ts";
import { type LedgerDatabase, openLedgerFile, openLedgerFileForReading } from "./ledger-file.ts";
import { emptyWindow, type WindowState } from "./window.ts";
import { expireSession, renew } from "./window-events.ts";

/** Whose allowance it is. */
export interface Principal {
  readonly origin: string;
  readonly credential: Credential | null;
}

export interface Ledger {
  /** Under which this run holds its leases. */
  readonly session: string;
  /**
   * Changes the state in one durable transaction.
   * @param change from the state as it is at `now`, the leases of dead processes known to be lost
   * @throws LedgerError
   */
  update<Result>(change: (state: WindowState) => Changed<Result>, now: number): Changed<Result>;
  /** The session must hold no lease any more, else they count as lost. */
  close(): void;
}

export interface Changed<Result> {
  readonly state: WindowState;
  readonly result: Result;
}

export interface LedgerOptions {
  /** Made when there is none, with its folder. */
  readonly file: string;
  readonly principal: Principal;
}

/** @throws LedgerError */
export function openLedger({ file, principal }: LedgerOptions): Ledger {
  return explaining(file, () => {
    const db = openLedgerFile(file);
    const session = randomUUID();
    const sessions = prepareSessions(db);
    const window = prepareWindow(db, file, principal);
    let isFirst = true;
    const present = (stored: WindowState, now: number): WindowState => {
      const state = renew(stored, now);
      const dead = Object.keys(state.open).filter((id) => id !== session && sessions.isDead(id, now));
      for (const id of dead) sessions.end(id);
      return dead.reduce(expireSession, state);
    };
    return {
      session,
      update: (change, now) =>
        explaining(file, () => {
          const perform = db.transaction(() => {
            const stored = window.read() ?? emptyWindow;
            if (isFirst) sessions.forgetDead(now);
            isFirst = false;
            const changed = change(present(stored, now));
            if (changed.state !== stored) {
              sessions.note(session, now);
              window.write(changed.state);
            }
            return changed;
          });
          return perform.immediate();
        }),
      close: () =>
        explaining(file, () => {
          sessions.end(session);
          db.close();
        }),
    };
  });
}

/**
 * The window as it stands in the file, or null when nothing is known; reads only, and makes no file.
 * @throws LedgerError
 */
export function readWindow(file: string, principal: Principal): WindowState | null {
  if (!existsSync(file)) return null;
  return explaining(file, () => {
    const db = openLedgerFileForReading(file);
    if (db === null) return null;
    try {
      return prepareWindow(db, file, principal).read();
    } finally {
      db.close();
    }
  });
}

/** As `readWindow`, of whatever credential asked last. @throws LedgerError */
export function readLatestWindow(file: string, origin: string): WindowState | null {
  if (!existsSync(file)) return null;
  return explaining(file, () => {
    const db = openLedgerFileForReading(file);
    try {
      const texts =
        db?.prepare<[string], string>("select state from window where origin = ?").pluck().all(origin) ?? [];
      const states = texts.flatMap((text) => parseState(text, file) ?? []);
      const [latest = null] = states.sort(
        (one, other) => (other.firstAskedAt ?? 0) - (one.firstAskedAt ?? 0),
      );
      return latest;
    } finally {
      db?.close();
    }
  });
}

/**
 * Reads all that is in the file, to see whether it can be; makes no file.
 * @throws LedgerError
 */
export function proveLedger(file: string): void {
  explaining(file, () => {
    const db = openLedgerFileForReading(file);
    if (db === null) return;
    try {
      for (const state of db.prepare<[], string>("select state from window").pluck().iterate())
        parseState(state, file);
      db.prepare("select * from session").all();
    } finally {
      db.close();
    }
  });
}

function prepareWindow(db: LedgerDatabase, file: string, { origin, credential }: Principal) {
  const key = [origin, digestCredential(credential)] as const;
  const select = db
    .prepare<[string, string], string>("select state from window where origin = ? and credential = ?")
    .pluck();
  const upsert = db.prepare<[string, string, string]>(
    "insert into window values (?, ?, ?) on conflict do update set state = excluded.state",
  );
  return {
    read: () => parseState(select.get(...key), file),
    write: (state: WindowState) => upsert.run(...key, JSON.stringify(state)),
  };
}

function parseState(text: string | undefined, file: string): WindowState | null {
  if (text === undefined) return null;
  try {
    const state = JSON.parse(text);
    if (Number.isSafeInteger(state?.seq)) return { ...emptyWindow, ...state };
  } catch (error) {
    throw new LedgerError("damaged", file, { cause: error });
  }
  throw new LedgerError("damaged", file);
}

function explaining<Result>(file: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw toLedgerError(error, file);
  }
}
