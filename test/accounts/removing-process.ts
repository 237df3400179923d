/**
 * A process that dies in the middle: `removing-process.ts DATA_DIR NAME N`. Removes an account with all its data, and kills
 * itself right before its Nth change of a file or folder.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [dataDir = "", name = "", countdown = ""] = process.argv.slice(2);
let left = Number(countdown);

for (const change of [
  "rmSync",
  "rmdirSync",
  "writeSync",
  "writeFileSync",
  "renameSync",
  "fsyncSync",
] as const) {
  const original = fs[change] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [change]: (...args: unknown[]) => {
      if (--left === 0) process.kill(process.pid, "SIGKILL");
      return original(...args);
    },
  });
}
syncBuiltinESMExports();

const { removeAccount } = await import("../../src/accounts/remove-account.ts");
const { brokenKeychain } = await import("./memory-keychain.ts");
const startedAt = "2026-01-15T12:00:00.000Z";
await removeAccount({ dataDir, name, purge: true, keychain: brokenKeychain("not asked"), startedAt });
