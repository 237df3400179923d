import { expect, it } from "vitest";
import {
  formatRuns,
  formatSchedules,
  type ListedSchedule,
} from "../../../../src/cli/format/operations/schedules.ts";
import { displayWidth } from "../../../../src/cli/terminal/table/display-width.ts";

const schedule: ListedSchedule = {
  ...{ name: "nightly", cron: "7 3 * * *", tz: Intl.DateTimeFormat().resolvedOptions().timeZone },
  ...{ jitterMillis: 0, delayMillis: 0, folder: "/", mirror: "/m", addedAt: "2026-11-01T00:00:00.000Z" },
  args: ["backup", "--account", "ada", "--to", "backups", "--keep-daily", "30"],
  nextAt: "2026-11-25T03:07:00.000Z",
  runs: [
    {
      ...{ due: "2026-11-24T03:07:00.000Z", startedAt: "2026-11-24T03:07:00.000Z", outcome: "done" },
      ...{ endedAt: "2026-11-24T03:08:00.000Z", exitCode: 0, seconds: 60, counts: null, error: null },
      ...{ attempts: 1, scheduler: { pid: 1, host: "elsewhere", startedAt: "2026-11-01T00:00:00.000Z" } },
    },
  ],
};

it("the list of schedules has short times, and wraps commands on a terminal", () => {
  const now = Date.parse("2026-11-24T11:07:00.000Z");
  const lines = formatSchedules([schedule], now, { columns: 80, print: () => undefined })
    .trimEnd()
    .split("\n");
  expect(lines[2]).toMatch(
    /^nightly {2}2026-11-25 03:07 UTC \(in 16 h\) {2}done, 8 h ago {2}7 3 \* \* \* {2}backup/,
  );
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.filter((line) => displayWidth(line) > 80)).toEqual([]);
});

it("the list and the history of schedules say how much a copy lacks", () => {
  const partial = {
    ...schedule,
    runs: schedule.runs.map((run) => ({ ...run, counts: { files: 1, resources: 2746, missing: 143 } })),
  };
  const now = Date.parse("2026-11-24T11:07:00.000Z");
  expect(formatSchedules([partial], now, null)).toMatch(/ {2}done, 143 missing, 8 h ago {2}/);
  expect(formatRuns(partial, null)).toContain("1 file, 2746 resources, 143 missing");
});

it("the runs of a schedule are listed below its command, its folder and its mirror", () => {
  const lines = formatRuns(schedule, null).split("\n");
  expect(lines.slice(0, 3)).toEqual([
    "command  backup --account ada --to backups --keep-daily 30",
    "folder   /",
    "mirror   /m",
  ]);
  expect(lines.slice(4, 7).join("\n")).toMatch(/^due .*\n─.*\n2026-11-24 03:07 UTC .* done/);
  expect(formatRuns({ ...schedule, runs: [] }, null)).toContain("mirror   /m\n\nnightly has not run yet.\n");
});
