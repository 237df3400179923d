import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates a folder in memory if the system has one there, so that the disk is not measured. */
export async function makeTemporaryFolder(): Promise<string> {
  const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  return mkdtemp(join(parent, "armoire-bench-"));
}
