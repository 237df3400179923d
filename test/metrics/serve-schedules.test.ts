import { dirname, join } from "node:path";
import { request } from "undici";
import { expect, it } from "vitest";
import { serveScheduleMetrics } from "../../src/metrics/serve-schedules.ts";
import { recordRun, type ScheduledRun } from "../../src/schedule/run-history.ts";
import { addSchedule, removeSchedule } from "../../src/schedule/schedules.ts";
import { metricValue } from "../support/metric-value.ts";
import { startRig } from "../sync/support/rig.ts";

const start = Date.parse("2026-03-01T12:00:00Z");
const run: ScheduledRun = {
  ...{ due: "2026-03-01T06:00:00.000Z", startedAt: "2026-03-01T06:00:01.000Z", attempts: 1 },
  scheduler: { pid: process.pid, host: "here", startedAt: "2026-03-01T00:00:00.000Z" },
  ...{ endedAt: "2026-03-01T06:00:31.000Z", exitCode: 0, seconds: 30, counts: null, error: null },
};

async function startServer({ names = [] as string[], host = "127.0.0.1", port = 0 } = {}) {
  const rig = await startRig({ brands: 2, models: 4, sizes: 8 });
  const dataDir = join(dirname(rig.file), "data");
  const clock = { time: start, now: () => clock.time, random: () => 0 };
  const add = (name: string) =>
    addSchedule({
      ...{ name, dataDir, clock, cron: "0 6 * * *", tz: "UTC", jitterMillis: 0 },
      ...{ args: ["sync"], folder: dataDir, mirror: rig.file },
    });
  const server = await serveScheduleMetrics({
    ...{ dataDir, host, port, names, clock },
    placeOf: ({ mirror }) => ({
      ...{ file: mirror, ledgerFile: join(dirname(mirror), "ledger.sqlite"), principal: "catalogue" },
    }),
  });
  const get = async (path: string, headers = {}) => {
    const { statusCode, body } = await request(`${server.url}${path}`, { headers });
    return { status: statusCode, text: await body.text() };
  };
  const read = async (name: string, ...labels: string[]) =>
    metricValue((await get("metrics")).text, `armoire_${name}`, ...labels);
  return {
    ...{ rig, dataDir, clock, server, get, read, add },
    async [Symbol.asyncDispose]() {
      await server.close();
      await rig[Symbol.asyncDispose]();
    },
  };
}

it("/metrics has the next and last runs of each schedule, and the runs by outcome from zero on", async () => {
  await using rig = await startServer();
  const { server, dataDir, read } = rig;
  const daily = rig.add("daily");
  rig.add("weekly");
  const ofDaily = 'schedule="daily"';
  expect(await read("schedule_next_run_timestamp_seconds", ofDaily)).toBe(
    Date.parse("2026-03-02T06:00:00Z") / 1000,
  );
  expect(await read("schedule_runs_total")).toBe(0);
  expect(await read("schedule_last_success_timestamp_seconds")).toBeNull();

  server.noteStart(daily);
  expect(await read("schedule_running", ofDaily)).toBe(1);
  recordRun(dataDir, "daily", run);
  server.noteEnd(daily, run);
  const failed = { ...run, startedAt: "2026-03-01T07:00:00.000Z", endedAt: "2026-03-01T07:00:05.000Z" };
  recordRun(dataDir, "daily", { ...failed, exitCode: null, seconds: 5 });
  server.noteEnd(daily, { ...failed, exitCode: null });
  expect(await read("schedule_running", ofDaily)).toBe(0);
  expect(await read("schedule_last_success_timestamp_seconds", ofDaily)).toBe(
    Date.parse("2026-03-01T06:00:31Z") / 1000,
  );
  expect(await read("schedule_last_ended_timestamp_seconds", ofDaily)).toBe(
    Date.parse("2026-03-01T07:00:05Z") / 1000,
  );
  expect(await read("schedule_last_exit_code", ofDaily)).toBe(-1);
  expect(await read("schedule_last_duration_seconds", ofDaily)).toBe(5);
  for (const [outcome, count] of [
    ["done", 1],
    ["failed", 0],
    ["killed", 1],
  ] as const)
    expect(await read("schedule_runs_total", ofDaily, `outcome="${outcome}"`)).toBe(count);
});

it("/metrics has the figures of each mirror once, until its last schedule is removed", async () => {
  await using rig = await startServer();
  rig.add("daily");
  rig.add("export");
  expect(await rig.read("runs_total")).toBeNull();
  await rig.rig.sync();
  expect(await rig.read("runs_total", 'outcome="complete"')).toBe(1);
  expect(await rig.read("frontier_resources", 'state="held"')).toBeGreaterThan(10);
  removeSchedule(rig.dataDir, "daily", rig.clock);
  expect(await rig.read("runs_total", 'outcome="complete"')).toBe(1);
  removeSchedule(rig.dataDir, "export", rig.clock);
  expect(await rig.read("runs_total")).toBeNull();
  expect(await rig.read("build_info")).toBe(1);
});

it("/healthz has status 503 once the scheduler no longer looks at its schedules", async () => {
  await using rig = await startServer();
  expect((await rig.get("healthz")).status).toBe(200);
  rig.clock.time += 61_000;
  expect(await rig.get("healthz")).toEqual({
    status: 503,
    text: '{"ok":false,"problems":["the scheduler does not look at its schedules"]}',
  });
  rig.server.noteBeat();
  expect((await rig.get("healthz")).status).toBe(200);
});

it("/healthz has status 503 and the reasons while no run can start", async () => {
  await using rig = await startServer();
  rig.server.noteProblems(["No jobs can be added"]);
  expect(await rig.get("healthz")).toEqual({
    status: 503,
    text: '{"ok":false,"problems":["No jobs can be added"]}',
  });
  rig.server.noteProblems([]);
  expect((await rig.get("healthz")).status).toBe(200);
});

it("other host names are refused, unless they are allowed", async () => {
  await using rig = await startServer({ names: ["coordinator"] });
  expect((await rig.get("metrics", { host: "evil.example" })).status).toBe(403);
  expect((await rig.get("metrics", { host: "coordinator:9401" })).status).toBe(200);
});

it("an address that cannot be used is reported with a hint", async () => {
  await expect(startServer({ host: "192.0.2.1" })).rejects.toMatchObject({
    code: "cannot-listen",
    hint: expect.stringContaining("--metrics"),
  });
});
