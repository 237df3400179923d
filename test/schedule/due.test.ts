import { expect, it } from "vitest";
import { dueTime } from "../../src/schedule/run/select-due-runs.ts";
import { someSchedule } from "./support/arbitrary-schedule.ts";

const six = Date.UTC(2026, 0, 5, 6);
const later = six + 3_600_000;
const last = { due: six, isLost: false, isRepeat: false };

it.each([
  ["had its run", last, later, null],
  ["lost it", { ...last, isLost: true }, later, six],
  ["lost it a second time", { ...last, isLost: true, isRepeat: true }, later, null],
  [
    "missed three days since it was lost twice",
    { ...last, isLost: true, isRepeat: true },
    later + 3 * 86_400_000,
    six + 3 * 86_400_000,
  ],
  ["had its run, and the clock was set back", last, six - 3_600_000, null],
])("a schedule that %s is due as it should be", (_what, run, now, due) => {
  expect(dueTime(someSchedule, run, now)).toBe(due);
});
