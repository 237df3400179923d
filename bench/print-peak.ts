/** Preloaded into a measured program: as it exits, the most memory that it has had is written to file descriptor 3. */
import { writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { peakMebibytes } from "./measurement.ts";

if (isMainThread) process.on("exit", () => writeSync(3, String(peakMebibytes())));
