/**
 * A process for tests to kill: `backing-up-process.ts WORK MIRROR PLACE`. Repeats its work forever, and prints `begun` after
 * the first time. WORK is `create` (back up MIRROR to PLACE), `restore` (restore PLACE to a mirror beside it, and remove that)
 * or `unpack` (the same with a folder).
 */
import { renameSync, rmSync, writeSync } from "node:fs";
import { kinds } from "../../../jobs/kinds.ts";
import { createBackup } from "../../../src/archive/create.ts";
import { restoreBackup, unpackBackup } from "../../../src/archive/restore.ts";

const [work = "", mirror = "", place = ""] = process.argv.slice(2);
const openedAt = "2026-01-15T12:00:00.000Z";

const works: Readonly<Record<string, (n: number) => Promise<void>>> = {
  async create(n) {
    await createBackup({ mirror, account: n % 2 === 0 ? "even" : "odd", to: place, replace: true });
  },
  async restore() {
    await restoreBackup({ file: place, mirror: `${place}.sqlite`, kinds, openedAt });
    for (const suffix of ["-wal", "-shm", ""]) rmSync(`${place}.sqlite${suffix}`, { force: true });
  },
  async unpack() {
    await unpackBackup({ file: place, folder: `${place}.files` });
    rmSync(`${place}.away`, { recursive: true, force: true });
    renameSync(`${place}.files`, `${place}.away`);
  },
};

for (let n = 0; ; n++) {
  await works[work]?.(n);
  if (n === 0) writeSync(1, "begun\n");
}
