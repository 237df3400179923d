/**
 * A process to kill: `daily-sync.ts FILE URL CONCURRENCY MILLISECONDS`. Syncs once, with a clock that many milliseconds
 * ahead, and prints whether the mirror is complete.
 */
import { writeSync } from "node:fs";
import { enableCompileCache } from "node:module";

enableCompileCache();
// Imported after enabling the cache, so that these are cached too.
const { sync } = await import("../../src/sync/sync.ts");

const [file = "", baseUrl = "", concurrency, aheadMillis] = process.argv.slice(2);
const clock = {
  now: () => Date.now() + Number(aheadMillis),
  random: Math.random,
  sleep: async (_millis: number, signal: AbortSignal | undefined) => signal?.throwIfAborted(),
};
const { complete } = await sync({ file, baseUrl, concurrency: Number(concurrency), clock });
writeSync(1, complete ? "complete\n" : "not complete\n");
