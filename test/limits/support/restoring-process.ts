/** A process that restores a backup: `restoring-process.ts BACKUP MIRROR`. It prints the number of held resources and its peak memory in MiB. */
import { writeSync } from "node:fs";
import { peakMebibytes } from "../../../bench/measurement.ts";
import { kinds } from "../../../jobs/kinds.ts";
import { restoreBackup } from "../../../src/archive/restore.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";

const [file = "", mirror = ""] = process.argv.slice(2);
await restoreBackup({ file, mirror, kinds, openedAt: new Date().toISOString() });
const reader = openMirrorReader(mirror);
const resources = reader.db.prepare("select count(*) from _resource where state = 'held'").pluck().get();
reader.close();
writeSync(1, JSON.stringify({ resources, mebibytes: peakMebibytes() }));
