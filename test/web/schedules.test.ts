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

const now = "2026-11-24T04:00:00.000Z";

const schedules: readonly ListedSchedule[] = ["sync", "sync --account ada", "backup --account=ada"].map(
  (command, n): ListedSchedule => ({
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
    readSchedules: () => toShownSchedules(schedules, null, Date.parse(now)),
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

it("the schedules of an account are those with its name, and one that is due and has not begun is late", () => {
  const shownAt = (account: string | null, at: string) =>
    toShownSchedules(schedules, account, Date.parse(at)).schedules.map(({ name, lateSince }) => [
      name,
      lateSince,
    ]);
  expect(shownAt("ada", now)).toEqual([
    ["daily-1", null],
    ["daily-2", null],
  ]);
  expect(shownAt("bea", now)).toEqual([]);
  // The last run was that of 23 November at 6:00 UTC; in Paris, it is 6:00 at 5:00 UTC.
  expect(shownAt(null, "2026-11-24T05:09:00.000Z")).toEqual([["daily-0", null]]);
  expect(shownAt(null, "2026-11-24T05:11:00.000Z")).toEqual([["daily-0", "2026-11-24T05:00:00.000Z"]]);
});
