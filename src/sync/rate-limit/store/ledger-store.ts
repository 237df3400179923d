/**
 * The ledger: a record of what each service has granted to each credential, in one file for all processes and mirrors that
 * share it. In: changes to the state of one window. Out: their results, once durable. Each change is one transaction, so
 * that no two processes lease the same request. The ledger does not know what a request is for.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { type Connection, checkpointIfLong, closeWritten } from "../../../mirror/file/connection.ts";
import { prepare, prepareColumn } from "../../../mirror/file/statements.ts";
import { type Credential, digestCredential } from "../../../service/credentials/credential.ts";
import { LedgerError, toLedgerError } from "../errors.ts";
import { emptyWindow, firstCountableAt, type WindowState } from "../window.ts";
import { renew } from "../window-events.ts";
import { expireSession, prepareSessions } from "./crashed-sessions.ts";
import { openLedgerFile, openLedgerFileForReading } from "./ledger-file.ts";
import { ledgerQuery } from "./tables.ts";

/** The owner of an allowance. */
export interface Principal {
  readonly origin: string;
  readonly credential: Credential | null;
}

export interface Ledger {
  /** Identifies this run's leases. */
  readonly session: string;
  /**
   * Changes the state in one durable transaction.
   * @param change takes the state at `now`, in which the leases of dead processes count as spent
   * @throws LedgerError
   */
  update<Result>(change: (state: WindowState) => Changed<Result>, now: number): Changed<Result>;
  /** Leases that the session still holds count as spent. */
  close(): void;
}

export interface Changed<Result> {
  readonly state: WindowState;
  readonly result: Result;
}

export interface LedgerOptions {
  /** Created if missing, with its folder. */
  readonly file: string;
  readonly principal: Principal;
}

/** @throws LedgerError */
export async function openLedger({ file, principal }: LedgerOptions): Promise<Ledger> {
  const db = await openLedgerFile(file).catch((error: unknown) => {
    throw toLedgerError(error, file);
  });
  try {
    return createLedger(db, file, principal);
  } catch (error) {
    db.close();
    throw toLedgerError(error, file);
  }
}

/** Asking for the length of the log takes as long as some updates. */
const updatesPerCheckpoint = 64;
/** In pages. */
const longLog = 1000;

function createLedger(db: Connection, file: string, principal: Principal): Ledger {
  const session = randomUUID();
  const sessions = prepareSessions(db);
  const window = prepareWindow(db, file, principal);
  let isFirst = true;
  let updates = 0;

  const withoutDead = (state: WindowState, now: number): WindowState => {
    const dead = Object.keys(state.openLeases).filter((id) => id !== session && sessions.isDead(id, now));
    for (const id of dead) sessions.end(id);
    return dead.reduce((left, id) => expireSession(left, id, now), state);
  };
  return {
    session,
    update: (change, now) =>
      withLedgerErrors(file, () => {
        const perform = db.transaction(() => {
          const stored = window.read() ?? emptyWindow;
          if (isFirst) sessions.deleteDead(now);
          isFirst = false;
          const changed = change(withoutDead(renew(stored, now), now));
          if (changed.state !== stored) {
            sessions.markAlive(session, now);
            window.write(changed.state);
          }
          return changed;
        });
        const changed = perform.immediate();
        if (++updates % updatesPerCheckpoint === 0) checkpointIfLong(db, longLog);
        return changed;
      }),
    close: () =>
      withLedgerErrors(file, () => {
        try {
          sessions.end(session);
        } finally {
          closeWritten(db);
        }
      }),
  };
}

/**
 * The stored state of a window; null if nothing is known. Creates no file.
 * @throws LedgerError
 */
export function readWindow(file: string, principal: Principal): WindowState | null {
  return readLedgerFile(file, (db) => prepareWindow(db, file, principal).read());
}

/** As `readWindow`, for the credential that was used last. @throws LedgerError */
export function readLatestWindow(file: string, origin: string): WindowState | null {
  return readLedgerFile(file, (db) => {
    const select = prepareColumn(db, (p: { origin: string }) =>
      ledgerQuery.selectFrom("window").select("state").where("origin", "=", p.origin),
    );
    const states = select.all({ origin }).flatMap((text) => parseState(text, file) ?? []);
    const [latest = null] = states.sort((a, b) => (firstCountableAt(b) ?? 0) - (firstCountableAt(a) ?? 0));
    return latest;
  });
}

/**
 * Reads every row, to find damage. Creates no file.
 * @throws LedgerError
 */
export function proveLedger(file: string): void {
  readLedgerFile(file, (db) => {
    const selectStates = prepareColumn(db, () => ledgerQuery.selectFrom("window").select("state"));
    for (const state of selectStates.iterate()) parseState(state, file);
    prepare(db, () => ledgerQuery.selectFrom("session").selectAll()).all();
    return null;
  });
}

/** @returns null without a ledger */
function readLedgerFile<Result>(file: string, read: (db: Connection) => Result | null): Result | null {
  if (!existsSync(file)) return null;
  return withLedgerErrors(file, () => {
    const db = openLedgerFileForReading(file);
    if (db === null) return null;
    try {
      return read(db);
    } finally {
      db.close();
    }
  });
}

function prepareWindow(db: Connection, file: string, { origin, credential }: Principal) {
  interface Key {
    origin: string;
    credential: string;
  }
  const key: Key = { origin, credential: digestCredential(credential) };
  const select = prepareColumn(db, (p: Key) =>
    ledgerQuery
      .selectFrom("window")
      .select("state")
      .where("origin", "=", p.origin)
      .where("credential", "=", p.credential),
  );
  const upsert = prepare(db, ({ origin, credential, state }: Key & { state: string }) =>
    ledgerQuery
      .insertInto("window")
      .values({ origin, credential, state })
      .onConflict((conflict) => conflict.doUpdateSet((eb) => ({ state: eb.ref("excluded.state") }))),
  );
  return {
    read: () => parseState(select.get(key), file),
    write: (state: WindowState) => upsert.run({ ...key, state: JSON.stringify(state) }),
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

function withLedgerErrors<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw toLedgerError(error, file);
  }
}
