/**
 * A process that sends two requests of a sync: `syncing-process.ts FILE URL`. It prints the report, the errors of resources, and the most
 * memory that it had, in MiB.
 */
import { writeSync } from "node:fs";
import { peakMebibytes } from "../../../bench/measurement.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { readStatus } from "../../../src/query/status/status.ts";
import { appCredential } from "../../../src/service/credentials/credential.ts";
import { sync } from "../../../src/sync/sync.ts";

const [file = "", baseUrl = ""] = process.argv.slice(2);
const { resources, stopped } = await sync({
  file,
  baseUrl,
  budget: 2,
  credential: appCredential("client-of-the-test", "a-secret-of-36-characters-0123456789"),
});
const mirror = openMirrorReader(file);
const { failures } = readStatus(mirror);
mirror.close();
writeSync(1, JSON.stringify({ stopped, resources, failures, mebibytes: peakMebibytes() }));
