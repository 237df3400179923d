/**
 * A process that sends two requests of a sync: `syncing-process.ts FILE URL`. It prints the report, the errors of resources, and the most memory
 * that it needed, in MB.
 */
import { writeSync } from "node:fs";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { readStatus } from "../../../src/query/status.ts";
import { sync } from "../../../src/sync/sync.ts";

const [file = "", baseUrl = ""] = process.argv.slice(2);
const { resources, stopped } = await sync({ file, baseUrl, budget: 2 });
const mirror = openMirrorReader(file);
const { failures } = readStatus(mirror);
mirror.close();
const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
writeSync(1, JSON.stringify({ stopped, resources, failures, megabytes }));
