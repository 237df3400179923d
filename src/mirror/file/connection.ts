/**
 * Opening the SQLite file. In: a path. Out: a connection with the settings that durability rests on; or a MirrorError, or
 * what SQLite throws, which `mirror.ts` turns into one.
 */

import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { migrations } from "../../../schema/migrations.ts";
import { type Lock, takeLock } from "../../platform/process-lock.ts";
import { MirrorError, notSqliteError } from "./errors.ts";

export type Connection = Database.Database;

/** Marks the file as ours ("arm1"), so that another program's SQLite file is refused. */
const applicationId = 0x61726d31;

/** Two processes that checkpoint at once could corrupt a WAL database before 3.51.3. */
const safeSqlite = [3, 51, 3] as const;

/** Opens for writing, and makes the file when there is none. The caller holds the lock, and has looked what is there. */
export function openForWriting(file: string, options: { readonly isPrivate: boolean }): Connection {
  // "wx" makes the file with its mode at once: there is no instant at which others could open it, whatever the umask.
  if (!existsSync(file)) closeSync(openSync(file, "wx", 0o600));
  // A catalogue that its owner has opened to others since then stays so; a person's data does not.
  else if (options.isPrivate) chmodSync(file, 0o600);
  const db = new Database(file);
  requireSafeSqlite(db, file);
  db.pragma("journal_mode = WAL");
  // NORMAL loses acknowledged commits on a power cut in WAL mode.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma(`application_id = ${applicationId}`);
  db.pragma("cache_size = -12288");
  // In pages: what a crawl changes again and again is copied from the log into the file a quarter as often.
  db.pragma("wal_autocheckpoint = 4000");
  return db;
}

/** Opens read-only, and refuses what is no mirror or one of a later version. */
export function openForReading(file: string): Connection {
  if (!existsSync(file)) {
    throw new MirrorError(
      "not-found",
      file,
      "There is no mirror",
      "`armoire sync` makes one; `--mirror FILE` names another.",
    );
  }
  if (statSync(file).isDirectory()) throw notSqliteError(file);
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    requireSafeSqlite(db, file);
    requireOurs(db, file);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * One transaction in which rows may refer to such as come later in it. What refers to what is looked at once at the end: for
 * each row by itself, SQLite would go through all of a table.
 * @returns a table in which a row refers to one that is not there; then nothing is written. Else null
 */
export async function withLateReferences(db: Connection, work: () => Promise<void>): Promise<string | null> {
  db.pragma("foreign_keys = off");
  db.exec("begin immediate");
  try {
    await work();
    const [stray] = db.pragma("foreign_key_check") as { table: string }[];
    if (stray !== undefined) return stray.table;
    db.exec("commit");
    return null;
  } finally {
    if (db.inTransaction) db.exec("rollback");
    db.pragma("foreign_keys = on");
  }
}

function requireOurs(db: Connection, file: string): void {
  const hasMigrations =
    db.prepare("select 1 from sqlite_schema where name = '_migration'").get() !== undefined;
  if (db.pragma("application_id", { simple: true }) !== applicationId || !hasMigrations) {
    throw new MirrorError(
      "not-a-mirror",
      file,
      "Not a mirror of Armoire's",
      "Give a file made by `armoire sync`.",
    );
  }
  const applied = db.prepare("select name from _migration order by name").pluck().all() as string[];
  const unknown = applied.filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length > 0) {
    throw new MirrorError(
      "newer",
      file,
      `The mirror is of a later version (${unknown.at(-1)}, this program knows ${Object.keys(migrations).at(-1)})`,
      "Install a newer Armoire. The file was not touched.",
    );
  }
}

function requireSafeSqlite(db: Connection, file: string): void {
  const version = String(db.prepare("select sqlite_version()").pluck().get());
  const numbers = version.split(".").map(Number);
  const difference =
    safeSqlite.map((part, index) => (numbers[index] ?? 0) - part).find((part) => part !== 0) ?? 0;
  if (difference < 0) {
    throw new MirrorError(
      "unsafe-sqlite",
      file,
      `SQLite ${version} can corrupt a mirror`,
      `Use ${safeSqlite.join(".")} or later.`,
    );
  }
}

/** Giving the space of what is no longer in a mirror back to the file system. */

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

/** Takes a mirror's lock: one process writes it. @param startedAt ISO 8601. @throws FileError `locked`, naming the holder; `unwritable` */
export function lockMirror(file: string, startedAt: string): Lock {
  return takeLock(file, { startedAt, busyMessage: `The mirror ${file} is in use` });
}
