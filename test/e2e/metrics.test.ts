/** Metrics at the command line: of a scheduler, and in a file. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, vi } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { metricValue } from "../support/metric-value.ts";
import { callArmoire, runArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";

it("a scheduler serves the metrics of its schedules and their mirrors", async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8 });
  const env = { ARMOIRE_DATA_DIR: folder.path, ARMOIRE_BASE_URL: sandbox.url };
  await callArmoire(["schedule", "add", "often", "--cron", "* * * * * *", "--", "sync"], { env });
  const scheduler = startArmoire(["schedule", "run", "--metrics", "0", "--json"], { env });
  let url = "";
  for await (const line of createInterface(scheduler.process.stderr)) {
    url = (JSON.parse(line) as { metrics?: string }).metrics ?? "";
    if (url !== "") break;
  }
  const read = async (name: string, ...labels: string[]) =>
    metricValue(await (await fetch(url)).text(), name, ...labels);
  await expect
    .poll(() => read("armoire_schedule_runs_total", 'schedule="often"', 'outcome="done"'))
    .toBeGreaterThan(0);
  expect(await read("armoire_run_last_complete_timestamp_seconds", 'principal="catalogue"')).toBeGreaterThan(
    0,
  );
  expect(await read("armoire_allowance_limit")).toBeGreaterThan(0);
  expect(await read("armoire_schedule_next_run_timestamp_seconds")).toBeGreaterThan(Date.now() / 1000 - 60);
  scheduler.process.kill("SIGTERM");
  expect(await scheduler.result).toMatchObject({ exitCode: 0 });
});

it("a sync writes its metrics to a file, also if it fails", async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8 });
  const file = join(folder.path, "armoire.prom");
  const env = { ARMOIRE_DATA_DIR: join(folder.path, "data"), ARMOIRE_BASE_URL: sandbox.url };
  const sync = () => callArmoire(["sync", "--metrics-file", file], { env });
  expect(await sync()).toMatchObject({ exitCode: 0 });
  const complete = readFileSync(file, "utf8");
  expect(metricValue(complete, "armoire_runs_total", 'outcome="complete"')).toBe(1);
  expect(metricValue(complete, "process_start_time_seconds")).toBeNull();
  sandbox.setFaults([{ times: "always", fault: "status", status: 503 }]);
  expect((await runArmoire(["sync", "--metrics-file", file], { env })).exitCode).toBe(1);
  const failed = readFileSync(file, "utf8");
  expect(metricValue(failed, "armoire_runs_total", 'outcome="error"')).toBe(1);
  const name = "armoire_run_last_complete_timestamp_seconds";
  expect(metricValue(failed, name)).toBe(metricValue(complete, name));
});

it("a metrics file that cannot be written fails the command before its first request", async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ brands: 1, models: 1, sizes: 1 });
  const env = { ARMOIRE_DATA_DIR: folder.path, ARMOIRE_BASE_URL: sandbox.url };
  const { stderr, exitCode } = await callArmoire(
    ["sync", "--metrics-file", join(folder.path, `${"a".repeat(300)}armoire.prom`)],
    { env },
  );
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("armoire.prom"),
  });
  expect(sandbox.log()).toEqual([]);
});

it("a metrics file that cannot be written after a sync fails the command, and the sync is kept", async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8, latencyMillis: 50 });
  const env = { ARMOIRE_DATA_DIR: join(folder.path, "data"), ARMOIRE_BASE_URL: sandbox.url };
  const place = join(folder.path, "metrics");
  mkdirSync(place);
  const syncing = callArmoire(["sync", "--metrics-file", join(place, "armoire.prom")], { env });
  await vi.waitFor(() => expect(sandbox.log().length).toBeGreaterThan(2), { timeout: 80_000, interval: 5 });
  renameSync(place, `${place}-moved`);
  writeFileSync(place, "a file in the place of the folder");
  const { exitCode, stdout, stderr } = await syncing;
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining("Everything is up to date")]);
  expect(stderr).toMatch(/^armoire: .*metrics\/armoire\.prom.*\n.*\n$/);
  expect((await callArmoire(["sync", "--metrics-file", `${place}.prom`], { env })).exitCode).toBe(0);
});
