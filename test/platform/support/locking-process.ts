/**
 * A process for tests: `locking-process.ts FILE ROUNDS`. Takes and releases a file's lock repeatedly and prints how many
 * times another process held it at the same time.
 */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { FileError } from "../../../src/platform/errors.ts";
import { type Lock, takeLock } from "../../../src/platform/process-lock.ts";

const [file = "", rounds = ""] = process.argv.slice(2);
let had = 0;
let shared = 0;
while (had < Number(rounds)) {
  let lock: Lock;
  try {
    lock = takeLock(file, { startedAt: "2026-01-15T12:00:00.000Z", busyMessage: "In use" });
  } catch (error) {
    if (error instanceof FileError && error.code === "locked") continue;
    throw error;
  }
  had++;
  try {
    closeSync(openSync(`${file}.held`, "wx"));
    rmSync(`${file}.held`);
  } catch {
    shared++;
  }
  lock.releaseAndRemove();
}
writeSync(1, `${had} rounds, ${shared} shared\n`);
