/** A process that syncs once and prints whether the mirror is complete: `syncing-process.ts FILE URL`. */
import { writeSync } from "node:fs";
import { sync } from "../../../src/sync/sync.ts";

const [file = "", baseUrl = ""] = process.argv.slice(2);
const { complete } = await sync({ file, baseUrl, concurrency: 4 });
writeSync(1, complete ? "complete\n" : "not complete\n");
