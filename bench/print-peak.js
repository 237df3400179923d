/**
 * Preloaded into a measured program: as it exits, the most memory that it has had is written to file descriptor 3. This is plain
 * JavaScript, since Node takes 10 to 15 MiB to run TypeScript, and the built program has none.
 */
import { readFileSync, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

if (isMainThread) process.on("exit", () => writeSync(3, String(peakMebibytes())));

/** On Linux, `maxRSS` would count the memory of the process that started it, too. */
function peakMebibytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}
