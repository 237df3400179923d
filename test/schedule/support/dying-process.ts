/**
 * Adds a schedule and records the start of a run, and kills itself right before its Nth change of a file or folder:
 * `dying-process.ts DATA_DIR N`.
 */
import { recordRun } from "../../../src/schedule/run-history.ts";
import { addSchedule } from "../../../src/schedule/schedules.ts";
import { dieBeforeChange } from "../../support/die-before-change.ts";

const [dataDir = "", countdown = ""] = process.argv.slice(2);
dieBeforeChange(Number(countdown), [
  "openSync",
  "mkdirSync",
  "rmSync",
  "unlinkSync",
  "writeFileSync",
  "renameSync",
  "fsyncSync",
]);

const moment = "2026-01-01T00:00:00.000Z";
addSchedule({
  ...{ dataDir, name: "second", cron: "0 6 * * *", tz: "UTC", jitterMillis: 0, args: ["sync"] },
  ...{ folder: "/", mirror: "catalogue", clock: { now: () => Date.parse(moment), random: () => 0 } },
});
recordRun(dataDir, "second", {
  ...{ due: moment, startedAt: moment, scheduler: { pid: 1, host: "here", startedAt: moment }, attempts: 1 },
  ...{ endedAt: null, exitCode: null, seconds: null, counts: null, error: null },
});
