/**
 * Where all tests keep their files: in memory, where the system has room for it, since their commits wait for a disk
 * else and prove nothing about one; with a place for compiled code, which each process of the tests would else compile anew.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";
const neededBytes = 2 ** 30;

export default function setup(): () => void {
  const folder = mkdtempSync(join(hasRoom() ? memory : tmpdir(), "armoire-tests-"));
  // Some tests give up their privileges, and still have to find their own folders in it.
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
