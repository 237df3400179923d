/**
 * Puts the temporary files of all tests in memory if there is room: their commits would wait for a disk and test nothing
 * about it. Also holds the compile cache that the tests' processes share.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";
const neededBytes = 2 ** 30;

export default function setup(): () => void {
  const folder = mkdtempSync(join(hasRoom() ? memory : tmpdir(), "armoire-tests-"));
  // Some tests drop their privileges and must still find their folders in it.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.env.NODE_COMPILE_CACHE = join(folder, "compile-cache");
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= neededBytes;
}
