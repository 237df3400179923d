/**
 * Fills a mirror with the rows of a backup, or tries whether that is possible. Both check the same, so a backup that proves
 * sound is not refused for its rows later.
 */
import Database from "better-sqlite3";
import { unknownKind } from "../../../schema/kind.ts";
import { type AccountUser, readAccountUser } from "../account/user.ts";
import { checkStates } from "../check/check-states.ts";
import { type Connection, withDeferredReferences } from "../file/connection.ts";
import { MirrorError } from "../file/errors.ts";
import { type MirrorIdentity, readMeta, writeIdentity } from "../file/meta.ts";
import { migrateMirror } from "../file/migrate.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import type { MirrorReader } from "../reader.ts";
import {
  BookkeepingRowError,
  type BookkeepingWriter,
  bookkeepingTables,
  type PutRows,
  prepareBookkeeping,
  readBookkeepingRows,
} from "./rows.ts";

/** What the manifest says about the mirror. */
export interface ExpectedMirror {
  readonly identity: MirrorIdentity;
  /** Null for a catalogue, and before the service has identified the user. */
  readonly user: AccountUser | null;
}

const originOf = ({ identity }: ExpectedMirror): string => new URL(identity.baseUrl).origin;

/**
 * Fills an empty mirror in one transaction, which lasts until `fill` resolves.
 * @throws BookkeepingRowError for rows that do not form a mirror; errors of `fill`
 */
export async function restoreBookkeeping(
  db: Connection,
  expected: ExpectedMirror,
  fill: (writer: BookkeepingWriter) => Promise<void>,
): Promise<void> {
  const danglingTable = await withDeferredReferences(db, async () => {
    await fill(prepareBookkeeping(db, originOf(expected)));
    requireConsistent(db, expected);
  });
  if (danglingTable !== null) throw danglingRow(danglingTable);
}

export interface BookkeepingTrial {
  readonly putRows: PutRows;
  /** Checks the rows as a whole. @throws BookkeepingRowError */
  finish(): void;
  close(): void;
}

/** Of a mirror without rows: migrations take longer than the rows of a small backup. */
let emptyMirror: Buffer | null = null;

async function createEmptyMirror(): Promise<Buffer> {
  const db = new Database(":memory:");
  try {
    await migrateMirror(db);
    return db.serialize();
  } finally {
    db.close();
  }
}

/** A mirror in memory, without bodies. */
export async function openBookkeepingTrial(expected: ExpectedMirror): Promise<BookkeepingTrial> {
  emptyMirror ??= await createEmptyMirror();
  const db = new Database(emptyMirror);
  writeIdentity(db, expected.identity);
  db.pragma("foreign_keys = off");
  db.exec("begin");
  const { putRows, putBody, bodies } = prepareBookkeeping(db, originOf(expected));
  return {
    putRows,
    finish() {
      for (const sha256 of [...bodies]) putBody(sha256, new Uint8Array());
      requireConsistent(db, expected);
      const [dangling] = db.pragma("foreign_key_check") as { table: string }[];
      if (dangling !== undefined) throw danglingRow(dangling.table);
    },
    close: () => db.close(),
  };
}

/**
 * Finds out before a backup is written whether it can be restored.
 * @throws MirrorError `damaged`
 */
export async function requireRestorable({ db, file, identity }: MirrorReader): Promise<void> {
  const trial = await openBookkeepingTrial({
    identity,
    user: identity.area === "account" ? readAccountUser(db) : null,
  });
  try {
    for (const table of bookkeepingTables) trial.putRows(table, readBookkeepingRows(db, table));
    trial.finish();
  } catch (error) {
    if (!(error instanceof BookkeepingRowError)) throw error;
    throw new MirrorError(
      "damaged",
      file,
      `The mirror holds a row that no backup can restore: ${error.message}`,
      "Restore a copy of the mirror, or sync again into a new file.",
      { cause: error },
    );
  } finally {
    trial.close();
  }
}

const danglingRow = (table: string) =>
  new BookkeepingRowError(`a row of ${table} refers to a row that does not exist`);

/** @throws BookkeepingRowError */
function requireConsistent(db: Connection, { user }: ExpectedMirror): void {
  const table = findLateRow(db);
  if (table !== undefined) throw new BookkeepingRowError(`a row of ${table} is of a run that does not exist`);
  if (hasOtherPast(db)) throw new BookkeepingRowError("a resource had another kind or owner before");
  checkStates(db, ({ where, message }) => {
    throw new BookkeepingRowError(`${where} ${message}`);
  });
  if (readMeta(db, "user_id") !== (user?.userId ?? null))
    throw new BookkeepingRowError("its parts are of different users");
}

/** Columns with runs that no reference requires to exist; a pass may begin with the next run. */
const runColumns = {
  first_derivation: ["run"],
  linked_check: ["checked_run"],
  loaded: ["validator_run", "bytes_run"],
  pass: ["from_run - 1"],
  resource: ["checked_run", "last_checked_run", "fetched_run"],
  resource_past: ["to_run", "gone_run"],
  revision: ["seen_run"],
} as const;

/** Raw: tables and columns are given by name. */
function findLateRow(db: Connection): string | undefined {
  const last = db.prepare<[], number>("select coalesce(max(id), 0) from _run").pluck().get() ?? 0;
  return Object.entries(runColumns).flatMap(([name, columns]) => {
    const isLate = columns.map((column) => `${column} > :last`).join(" or ");
    const late = db.prepare<{ last: number }>(`select 1 from _${name} where ${isLate} limit 1`).get({ last });
    return late === undefined ? [] : [`_${name}`];
  })[0];
}

/** A resource gets its owner once, and a kind after an unknown one; then they stay. */
function hasOtherPast(db: Connection): boolean {
  const select = prepare(db, () =>
    q
      .selectFrom("_resource_past as p")
      .innerJoin("_resource as r", "r.id", "p.id")
      .select("p.id")
      .where((eb) =>
        eb.or([
          eb("p.kind", "<>", eb.ref("r.kind")).and("p.kind", "not like", `${unknownKind("")}%`),
          eb("p.owner_id", "<>", eb.ref("r.owner_id")),
        ]),
      )
      .limit(1),
  );
  return select.get() !== undefined;
}
