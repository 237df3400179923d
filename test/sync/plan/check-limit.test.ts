/** How many checks a run makes by default, and with an explicit limit. */
import { expect, it } from "vitest";
import { planChecks } from "../../../src/sync/plan/checks.ts";
import type { CheckRow } from "../../../src/sync/plan/queries/check-conditions.ts";
import type { CheckQueries } from "../../../src/sync/plan/queries/check-queries.ts";
import type { PlanAllowance, PlanRequest } from "../../../src/sync/plan/request.ts";
import { startRig } from "../support/rig.ts";

const rows = Array.from({ length: 20_000 }, (_, id): CheckRow => ({ id, kind: "model", isFree: 1 }));
const queries: CheckQueries = {
  root: () => null,
  sample: () => [],
  listings: () => [],
  suspects: () => [],
  overdue: () => rows.slice(0, 5_000),
  unconfirmed: () => [],
  expected: () => rows,
  everything: () => [],
};

/** The number of checks if each takes so many milliseconds. */
function countChecks(
  millis: number,
  maxFreeChecks: number | null,
  given: Partial<PlanAllowance> = {},
): number {
  let clock = 0;
  const request: PlanRequest = {
    ...{
      area: "catalogue",
      scope: { kinds: ["model"], belowIds: null },
      order: "value",
      mode: "incremental",
    },
    ...{ runId: 2, cycleRun: 2, maxStalenessMillis: 1, skipFresherThanMillis: 0, maxFreeChecks },
    now: () => clock,
    allowance: () => ({ isAmple: true, checkPrice: "free", ...given }),
  };
  let count = 0;
  for (const check of planChecks(queries, request, { isRunning: false, hasMoreWork: false })) {
    if (check === null) continue;
    count++;
    clock += millis;
  }
  return count;
}

it("by default, a run with an ample allowance makes free checks for ten minutes", () => {
  expect(countChecks(100, null)).toBe(6_000);
  expect(countChecks(1, null)).toBe(20_000);
});

it("without an ample allowance, or with counted checks, the default is a number of checks", () => {
  expect(countChecks(1, null, { isAmple: false })).toBe(2_000);
  expect(countChecks(1, null, { checkPrice: "unknown" })).toBe(2_000);
});

it("an explicit number of checks has no time limit", () => {
  expect(countChecks(1_000, 10_000)).toBe(10_000);
});

it.each([
  ["checks for ten minutes if the allowance is ample", 1_000_000, false],
  ["makes 2,000 checks if it is not, however long they take", 400, true],
])("a month later, a sync %s", async (_, allowance, isAll) => {
  await using rig = await startRig({ brands: 2, models: 40, sizes: 40, allowance });
  await rig.sync();
  rig.sandbox.moveClock({ advanceSeconds: 40 * 86_400 });
  // Each look at the clock takes ten seconds.
  let looks = 0;
  const clock = { ...rig.clock, now: () => rig.clock.now() + 10_000 * looks++ };
  const { requests } = await rig.sync({ clock });
  const known = [...rig.sandbox.truth()].length;
  expect(requests.sent).toBeGreaterThan(10);
  expect(requests.sent === known).toBe(isAll);
});
