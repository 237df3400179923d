import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { writeMetricsFile } from "../../src/metrics/metrics-file.ts";
import { openForWriting } from "../../src/mirror/file/connection.ts";
import { metricValue } from "../support/metric-value.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

async function readFigures(rig: Rig): Promise<(name: string, ...labels: string[]) => number | null> {
  const folder = dirname(rig.file);
  const file = join(folder, "armoire.prom");
  const place = { file: rig.file, ledgerFile: join(folder, "ledger.sqlite"), principal: "catalogue" };
  await writeMetricsFile(file, place, rig.clock.now());
  const text = readFileSync(file, "utf8");
  return (name, ...labels) => metricValue(text, `armoire_${name}`, ...labels);
}

it("a metrics file has the sums of all runs, the allowance and the last complete run, for other users to read", async () => {
  await using rig = await startRig({ brands: 3, models: 6, sizes: 12 });
  const reports = [await rig.sync(), await rig.sync()];
  const read = await readFigures(rig);
  const sum = (name: "sent" | "counted" | "notModified") =>
    reports.reduce((total, { requests }) => total + requests[name], 0);
  expect(read("requests_sent_total", 'principal="catalogue"')).toBe(sum("sent"));
  expect(read("requests_counted_total")).toBe(sum("counted"));
  expect(read("requests_not_modified_total")).toBe(sum("notModified"));
  expect(read("runs_total", 'outcome="complete"')).toBe(2);
  expect(read("runs_total", 'outcome="killed"')).toBe(0);
  expect(read("allowance_limit")).toBe(4_000);
  expect(read("allowance_remaining")).toBe(4_000 - sum("counted"));
  expect(read("frontier_resources", 'state="due"')).toBe(0);
  expect(read("frontier_resources", 'state="held"')).toBeGreaterThan(20);
  expect(read("run_last_complete_timestamp_seconds")).toBe(read("run_last_ended_timestamp_seconds"));
  expect(read("coordinator_up")).toBe(0);
  expect(read("build_info")).toBe(1);
  expect(statSync(join(dirname(rig.file), "armoire.prom")).mode & 0o044).toBe(0o044);
});

it("a run that fails, or ends with work left, does not renew the last complete run", async () => {
  await using rig = await startRig({ brands: 3, models: 6, sizes: 12 });
  await rig.sync({ budget: 5 });
  expect((await readFigures(rig))("run_last_complete_timestamp_seconds")).toBeNull();
  await rig.sync();
  const completeAt = (await readFigures(rig))("run_last_complete_timestamp_seconds");
  expect(completeAt).toBeGreaterThan(0);

  rig.sandbox.moveClock({ advanceSeconds: 86_400 });
  rig.sandbox.setFaults([{ times: "always", fault: "status", status: 503 }]);
  await rig.sync().catch(() => {});
  const read = await readFigures(rig);
  expect(read("runs_total", 'outcome="error"')).toBe(1);
  expect(read("run_last_complete_timestamp_seconds")).toBe(completeAt);
  expect(read("run_last_ended_timestamp_seconds")).toBeGreaterThan(completeAt ?? 0);
});

it("a killed run counts as killed, before and after the next run closes it", async () => {
  await using rig = await startRig({ brands: 2, models: 4, sizes: 8 });
  await rig.sync();
  const db = openForWriting(rig.file, { isPrivate: false });
  db.prepare("insert into _run (started_at, mode, scope_json) values (?, 'incremental', '{}')").run(
    new Date(rig.clock.now()).toISOString(),
  );
  db.close();
  expect((await readFigures(rig))("runs_total", 'outcome="killed"')).toBe(1);
  await rig.sync();
  const read = await readFigures(rig);
  expect(read("runs_total", 'outcome="killed"')).toBe(1);
  expect(read("runs_total", 'outcome="complete"')).toBe(2);
});
