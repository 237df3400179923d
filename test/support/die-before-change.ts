/** Makes a process kill itself right before one of its changes of files and folders. */
import fs from "node:fs";
import { flushCompileCache, syncBuiltinESMExports } from "node:module";

export type Change =
  | "openSync"
  | "mkdirSync"
  | "rmSync"
  | "unlinkSync"
  | "rmdirSync"
  | "writeSync"
  | "writeFileSync"
  | "renameSync"
  | "fsyncSync";

/**
 * Call this after all imports, since loading modules opens files too.
 * @param countdown 1 for the first change
 * @param changes the calls to count
 */
export function dieBeforeChange(countdown: number, changes: readonly Change[]): void {
  // A killed process does not keep what it has compiled for the next one.
  flushCompileCache();
  let remaining = countdown;
  for (const change of changes) {
    const original = fs[change] as (...args: unknown[]) => unknown;
    Object.assign(fs, {
      [change]: (...args: unknown[]) => {
        if (--remaining === 0) process.kill(process.pid, "SIGKILL");
        return original(...args);
      },
    });
  }
  syncBuiltinESMExports();
}
