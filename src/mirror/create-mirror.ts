/**
 * Makes a new mirror beside its place and puts it there when it is whole, so that a process that dies meanwhile leaves no
 * half of one. The caller holds the lock.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { openForWriting } from "./connection.ts";
import { type MirrorIdentity, writeIdentity } from "./meta.ts";
import { migrate } from "./migrate.ts";
import { syncFolder } from "./sync-folder.ts";

/** @throws MirrorError */
export async function createMirror(file: string, identity: MirrorIdentity): Promise<void> {
  const partial = `${file}.new`;
  for (const suffix of ["", "-wal", "-shm"]) rmSync(partial + suffix, { force: true });
  const db = openForWriting(partial, { isPrivate: identity.area === "account" });
  try {
    await migrate(db);
    writeIdentity(db, identity);
  } finally {
    db.close();
  }
  setLeftoversAside(file);
  renameSync(partial, file);
  syncFolder(dirname(file));
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
