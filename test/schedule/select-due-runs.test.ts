import { expect, it } from "vitest";
import { dueTime } from "../../src/schedule/run/select-due-runs.ts";
import { someSchedule } from "./support/arbitrary-schedule.ts";

const six = Date.UTC(2026, 0, 5, 6);
const later = six + 3_600_000;
const lastRun = { due: six, isLost: false, isRepeat: false };

it.each([
  ["whose last due time has had its run is not due", lastRun, later, null],
  ["whose last run was lost is due again", { ...lastRun, isLost: true }, later, six],
  ["whose repeated run was lost too is not due", { ...lastRun, isLost: true, isRepeat: true }, later, null],
  [
    "that missed three days after two lost runs is due once",
    { ...lastRun, isLost: true, isRepeat: true },
    later + 3 * 86_400_000,
    six + 3 * 86_400_000,
  ],
  ["that has had its run is not due again after the clock was set back", lastRun, six - 3_600_000, null],
])("a schedule %s", (_case, run, now, due) => {
  expect(dueTime(someSchedule, run, now)).toBe(due);
});
