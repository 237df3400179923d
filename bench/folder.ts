import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** It is not a disk that is measured: in memory where that is to be had. */
export async function makeFolder(): Promise<string> {
  const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  return mkdtemp(join(parent, "armoire-bench-"));
}
