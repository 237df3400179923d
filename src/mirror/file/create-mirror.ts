/**
 * Makes a new mirror beside its place and puts it there when it is whole, so that a process that dies meanwhile leaves no
 * half of one. The caller holds the lock.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { publish } from "../../platform/atomic-file.ts";
import { type Connection, openForWriting } from "./connection.ts";
import { ensureMirrorId, type MirrorIdentity, writeIdentity } from "./meta.ts";
import { migrateMirror } from "./migrate.ts";

const partialMark = ".new-";

/**
 * @param fill puts into it what it is to hold from the beginning; nothing unless told
 * @throws MirrorError, and what `fill` throws: then there is no mirror
 */
export async function createMirror(
  file: string,
  identity: MirrorIdentity,
  fill: (db: Connection) => Promise<void> = async () => {},
): Promise<void> {
  removeLeftovers(file);
  // A name that nobody else can foresee: else a link of theirs could be there, and be followed or be in the way.
  const partial = `${file}${partialMark}${randomBytes(6).toString("hex")}`;
  try {
    const db = openForWriting(partial, { isPrivate: identity.area === "account" });
    try {
      await migrateMirror(db);
      writeIdentity(db, identity);
      await fill(db);
      ensureMirrorId(db);
    } finally {
      db.close();
    }
    setLeftoversAside(file);
    publish(partial, file);
  } catch (error) {
    removePartial(partial);
    throw error;
  }
}

/** What killed processes left: whoever holds the lock makes the only one. What somebody else put there is theirs. */
function removeLeftovers(file: string): void {
  const beginning = `${basename(file)}${partialMark}`;
  for (const name of readdirSync(dirname(file)).filter((name) => name.startsWith(beginning))) {
    try {
      rmSync(join(dirname(file), name), { force: true });
    } catch {
      // It is not in the way of another name.
    }
  }
}

function removePartial(partial: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(partial + suffix, { force: true });
}

/** SQLite would replay into the new mirror what an earlier one left in its log, when only its main file was moved away. */
function setLeftoversAside(file: string): void {
  for (const leftover of [`${file}-wal`, `${file}-journal`]) {
    if (!existsSync(leftover)) continue;
    let n = 1;
    while (existsSync(`${leftover}.orphan-${n}`)) n++;
    renameSync(leftover, `${leftover}.orphan-${n}`);
  }
  rmSync(`${file}-shm`, { force: true });
}
