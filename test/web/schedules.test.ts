/** Schedules as a page: what the command line knows, without those of accounts. */
import { expect, it } from "vitest";
import { type ListedSchedule, toShownSchedules } from "../../src/cli/format/operations/schedules.ts";
import { createServer } from "../../src/web/server.ts";
import { startRig } from "../sync/support/rig.ts";
import { send } from "./support/web-rig.ts";

const run = {
  due: "2026-11-23T06:00:00.000Z",
  scheduler: { pid: 1, host: "host", startedAt: "2026-11-20T00:00:00.000Z" },
  attempts: 2,
  endedAt: "2026-11-23T06:01:00.000Z",
  exitCode: 0,
  seconds: 60,
  counts: { changed: 3, gone: 0 },
  error: null,
};

const schedules: readonly ListedSchedule[] = ["sync", "sync --account ada", "backup --account=ada"].map(
  (command, n) => ({
    ...{ name: `daily-${n}`, cron: "0 6 * * *", tz: "Europe/Paris", jitterMillis: 0, delayMillis: 0 },
    ...{ args: command.split(" "), folder: "/", mirror: "/m", addedAt: "2026-11-20T00:00:00.000Z" },
    nextAt: "2026-11-25T05:00:00.000Z",
    runs: [
      { ...run, startedAt: "2026-11-22T06:00:00.000Z", outcome: "failed", error: "<b>no answer</b>" },
      { ...run, startedAt: "2026-11-23T06:00:00.000Z", outcome: "done" },
    ],
  }),
);

it("schedules are shown with their next and last runs, newest first, without those of accounts", async () => {
  await using rig = await startRig({ brands: 2, models: 2, sizes: 2 });
  await rig.sync();
  const server = await createServer({
    ...{ findCatalogue: () => rig.file, port: 0, clock: rig.clock },
    readSchedules: () => toShownSchedules(schedules),
  });
  const { status, body } = await send(server, "/schedules");
  expect(status).toBe(200);
  expect(body).toContain("2026-11-25 05:00 UTC");
  expect(body).toContain("Europe/Paris");
  expect(body).toContain("3 changed, 2 attempts");
  expect(body).toContain("&lt;b&gt;no answer&lt;/b&gt;");
  expect(body.indexOf("2026-11-23 06:00")).toBeLessThan(body.indexOf("2026-11-22 06:00"));
  expect(body).not.toMatch(/\bada\b|daily-1|daily-2/);
  expect(body).toContain("2 schedules of accounts");
  const rows = JSON.parse((await send(server, "/schedules.json")).body);
  expect(rows).toEqual([
    {
      ...{ name: "daily-0", next_at: "2026-11-25T05:00:00.000Z", last_outcome: "done", command: "sync" },
      ...{ last_started_at: "2026-11-23T06:00:00.000Z", cron: "0 6 * * *", tz: "Europe/Paris" },
    },
  ]);
  await server.close();
});

it("without schedules, the page says how to add one", async () => {
  await using rig = await startRig({ brands: 2, models: 2, sizes: 2 });
  await rig.sync();
  const server = await createServer({ findCatalogue: () => rig.file, port: 0 });
  expect((await send(server, "/schedules")).body).toContain("armoire schedule add NAME");
  await server.close();
});
