/** A process for tests to kill: `syncing-process.ts FILE URL`. Syncs once, and prints whether the mirror is complete. */
import { writeSync } from "node:fs";
import { sync } from "../../../src/sync/sync.ts";

const [file = "", baseUrl = ""] = process.argv.slice(2);
const { complete } = await sync({ file, baseUrl, concurrency: 4 });
writeSync(1, complete ? "complete\n" : "not complete\n");
