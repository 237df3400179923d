/** The runs that a retention policy keeps. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EndedRun } from "../../../src/mirror/points/resolve-point.ts";
import { chooseRuns, type RetentionPolicy, retentionRules } from "../../../src/mirror/runs/retention.ts";

const run = fc
  .date({ min: new Date("2019-12-01"), max: new Date("2026-12-31"), noInvalidDate: true })
  .map((date) => date.toISOString());
/** Numbered in the order of their ends, or not: clocks can be set back. */
const runs = fc
  .tuple(fc.array(run, { maxLength: 40 }), fc.boolean())
  .map(([ends, isSorted]) =>
    (isSorted ? ends.toSorted() : ends).map((endedAt, n): EndedRun => ({ run: n + 1, endedAt })),
  );
const rule = fc.constantFrom(...retentionRules);
const policy: fc.Arbitrary<RetentionPolicy> = fc.dictionary(rule, fc.integer({ min: 1, max: 20 }), {
  minKeys: 1,
});

const keptBy = (all: readonly EndedRun[], rules: RetentionPolicy) =>
  new Set(chooseRuns(all, rules).keep.map(({ run: id }) => id));

const result = (...ends: readonly string[]) =>
  ends.map((endedAt, n): EndedRun => ({ run: n + 1, endedAt: new Date(endedAt).toISOString() }));

describe("retention rules", () => {
  it.each([Number.NaN, -1, 1.5])("a policy that keeps %s runs is refused", (count) => {
    expect(() => chooseRuns(result("2026-01-14"), { daily: count })).toThrow(RangeError);
  });

  it("chooseRuns keeps the latest run and the runs of each rule, with the reasons", () => {
    const year = result("2025-12-28", "2025-12-31", "2026-01-14T01:00", "2026-01-14T02:00", "2026-01-15");
    expect(chooseRuns(year, { last: 2, daily: 2, weekly: 3, monthly: 2, yearly: 9 })).toEqual({
      keep: [
        [5, ["latest", "last", "daily 2026-01-15", "weekly 2026-W03", "monthly 2026-01", "yearly 2026"]],
        [4, ["last", "daily 2026-01-14"]],
        [2, ["weekly 2026-W01", "monthly 2025-12", "yearly 2025"]],
        [1, ["weekly 2025-W52"]],
      ].map(([id, reasons]) => ({ run: id, endedAt: year[Number(id) - 1]?.endedAt, reasons })),
      prune: [year[2]],
    });
  });

  it("chooseRuns keeps the last run whose changes were passed on", () => {
    const year = result("2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04");
    const reasonsOf = (passedOn: number | null) =>
      chooseRuns(year, { last: 1 }, passedOn).keep.map(({ run, reasons }) => [run, ...reasons]);
    expect(reasonsOf(2)).toEqual([
      [4, "latest", "last"],
      [2, "on-change"],
    ]);
    for (const passedOn of [null, 0, 4]) expect(reasonsOf(passedOn)).toEqual([[4, "latest", "last"]]);
  });

  it("chooseRuns keeps all runs without a rule", () => {
    fc.assert(
      fc.property(runs, (all) => {
        expect(chooseRuns(all, {}).prune).toEqual([]);
        expect(chooseRuns(all, {}).keep).toHaveLength(all.length);
      }),
    );
  });

  it("chooseRuns returns each run once, either kept or not, newest first", () => {
    fc.assert(
      fc.property(runs, policy, (all, rules) => {
        const { keep, prune } = chooseRuns(all, rules);
        const ids = [keep, prune].map((some) => some.map(({ run: id }) => id));
        expect(ids).toEqual(ids.map((some) => some.toSorted((a, b) => b - a)));
        expect(ids.flat().sort((a, b) => a - b)).toEqual(all.map(({ run: id }) => id));
        for (const { reasons } of keep) expect(reasons).not.toEqual([]);
      }),
    );
  });

  it("chooseRuns keeps the union of the runs that each rule alone would keep", () => {
    fc.assert(
      fc.property(runs, policy, (all, rules) => {
        const alone = retentionRules.flatMap((name) =>
          rules[name] === undefined ? [] : [...keptBy(all, { [name]: rules[name] })],
        );
        expect(keptBy(all, rules)).toEqual(new Set(alone));
      }),
    );
  });

  it("chooseRuns always keeps the latest run, whatever its time", () => {
    fc.assert(
      fc.property(runs, policy, (all, rules) => {
        fc.pre(all.length > 0);
        expect(keptBy(all, rules)).toContain(all.length);
      }),
    );
  });

  it("chooseRuns keeps no fewer runs with a higher limit", () => {
    fc.assert(
      fc.property(runs, policy, rule, (all, rules, name) => {
        const more = keptBy(all, { ...rules, [name]: (rules[name] ?? 0) + 1 });
        for (const id of keptBy(all, rules)) expect(more).toContain(id);
      }),
    );
  });

  it("chooseRuns keeps the last run of each of the newest days, months and years", () => {
    fc.assert(
      fc.property(
        runs,
        fc.constantFrom(["daily", 10] as const, ["monthly", 7] as const, ["yearly", 4] as const),
        fc.integer({ min: 1, max: 20 }),
        (all, [name, digits], count) => {
          const periodOf = ({ endedAt }: EndedRun) => endedAt.slice(0, digits);
          const newest = [...new Set(all.map(periodOf))].sort().slice(-count);
          const last = newest.map(
            (period) => all.findLast((candidate) => periodOf(candidate) === period)?.run,
          );
          expect(keptBy(all, { [name]: count })).toEqual(
            new Set([...last, ...all.slice(-1).map(({ run: id }) => id)]),
          );
        },
      ),
    );
  });

  it("chooseRuns keeps the last run of each of the newest weeks from Monday to Sunday", () => {
    const monday = Date.UTC(1970, 0, 5);
    const weekOf = ({ endedAt }: EndedRun) => Math.floor((Date.parse(endedAt) - monday) / (7 * 86_400_000));
    fc.assert(
      fc.property(runs, fc.integer({ min: 1, max: 20 }), (all, weekly) => {
        const newest = [...new Set(all.map(weekOf))].sort((a, b) => a - b).slice(-weekly);
        const last = newest.map((week) => all.findLast((candidate) => weekOf(candidate) === week)?.run);
        expect(keptBy(all, { weekly })).toEqual(
          new Set([...last, ...all.slice(-1).map(({ run: id }) => id)]),
        );
      }),
    );
  });
});
