import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates a folder in memory if possible: the disk is not measured. */
export async function makeFolder(): Promise<string> {
  const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  return mkdtemp(join(parent, "armoire-bench-"));
}
