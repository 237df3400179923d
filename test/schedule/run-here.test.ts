/** The engine without a server, in a world of its own: any schedules, runs of any length, power cuts at any time. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { timeUpTo } from "../../src/schedule/cron-times.ts";
import { runLocally } from "../../src/schedule/run/local-scheduler.ts";
import type { Candidate, LastRun } from "../../src/schedule/run/select-due-runs.ts";
import type { Schedule } from "../../src/schedule/schedule.ts";
import {
  arbitraryCron,
  arbitraryMoment,
  someSchedule,
  timesBetween,
  zones,
} from "./support/arbitrary-schedule.ts";
import { virtualClock } from "./support/virtual-clock.ts";

const minute = 60_000;

interface Begun {
  readonly schedule: Schedule;
  readonly due: number;
  readonly at: number;
  /** Null where the power went first. */
  endedAt: number | null;
}

interface Session {
  /** Epoch milliseconds, both. */
  readonly on: number;
  readonly off: number;
}

/** @param lengths of runs, in turn, in milliseconds */
async function live(
  schedules: readonly Schedule[],
  sessions: readonly Session[],
  lengths: readonly number[],
) {
  const begun: Begun[] = [];
  for (const { on, off } of sessions) {
    const clock = virtualClock(on);
    const power = new AbortController();
    const lastOf = (schedule: Schedule): LastRun | null => {
      const runs = begun.filter((run) => run.schedule === schedule);
      const last = runs.at(-1);
      if (last === undefined) return null;
      const isLost = last.endedAt === null && last.at < on;
      return { due: last.due, isLost, isRepeat: runs.at(-2)?.due === last.due };
    };
    const running = runLocally({
      candidates: () => schedules.map((schedule): Candidate => ({ schedule, last: lastOf(schedule) })),
      async begin({ schedule, due }) {
        const run: Begun = { schedule, due, at: clock.now(), endedAt: null };
        begun.push(run);
        const length = lengths[begun.length % lengths.length] ?? minute;
        await clock.sleep(length, power.signal).then(
          () => {
            run.endedAt = clock.now();
          },
          () => {},
        );
      },
      ...{ clock, lookAgainMillis: 24 * 60 * minute, ending: power.signal },
    });
    await clock.advanceTo(off);
    power.abort();
    await running;
  }
  return begun;
}

const schedulesOf = (addedAt: number) =>
  fc
    .array(
      fc.record({
        cron: arbitraryCron,
        tz: fc.constantFrom(...zones),
        mirror: fc.constantFrom("catalogue", "ada"),
        delayMillis: fc.nat(20).map((minutes) => minutes * minute),
      }),
      { minLength: 1, maxLength: 3 },
    )
    .map((wanted) =>
      wanted.map(
        (one, index): Schedule => ({
          ...someSchedule,
          ...one,
          ...{ name: `s${index}`, addedAt: new Date(addedAt).toISOString() },
        }),
      ),
    );

const arbitraryLife = arbitraryMoment.chain((start) =>
  fc.record({
    schedules: schedulesOf(start),
    lengths: fc.array(fc.integer({ min: 1, max: 90 * minute }), { minLength: 1, maxLength: 5 }),
    sessions: fc
      .array(
        fc.tuple(fc.integer({ min: 1, max: 300 * minute }), fc.integer({ min: 1, max: 30 * 60 * minute })),
        {
          minLength: 1,
          maxLength: 4,
        },
      )
      .map((spans) => {
        let at = start;
        return spans.map(([up, down]): Session => {
          const on = at;
          at += up + down;
          return { on, off: on + up };
        });
      }),
  }),
);

it("no two runs of a mirror go on at a time, and no time has two runs", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryLife, async ({ schedules, sessions, lengths }) => {
      const begun = await live(schedules, sessions, lengths);
      for (const mirror of ["catalogue", "ada"]) {
        const runs = begun.filter((run) => run.schedule.mirror === mirror);
        runs.forEach((run, index) => {
          const before = runs[index - 1];
          if (before?.endedAt) expect(run.at).toBeGreaterThanOrEqual(before.endedAt);
        });
      }
      for (const schedule of schedules) {
        const runs = begun.filter((run) => run.schedule === schedule);
        runs.forEach((run, index) => {
          expect(run.due).toBe(timeUpTo(schedule, run.due));
          expect(run.at).toBeGreaterThanOrEqual(run.due);
          const [before, beforeThat] = [runs[index - 1], runs[index - 2]];
          if (before === undefined) return;
          if (run.due > before.due) return;
          // Only what the power ended is begun again, and once.
          expect({ due: run.due, endedAt: before.endedAt }).toEqual({ due: before.due, endedAt: null });
          expect(beforeThat?.due).not.toBe(run.due);
        });
      }
    }),
    { numRuns: 60 },
  );
}, 60_000);

it("what came due while the power was off is made up for once, and nothing that is due is left out", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryLife, async ({ schedules, sessions }) => {
      const alone = schedules.map((schedule) => ({ ...schedule, mirror: schedule.name }));
      // Runs end at once, so that none is in the way of another.
      const begun = await live(alone, sessions, [0]);
      for (const schedule of alone) {
        const runs = begun.filter((run) => run.schedule === schedule);
        let heldUntil = Date.parse(schedule.addedAt);
        const expected = sessions.flatMap(({ on, off }) => {
          const missed = timesBetween(schedule, heldUntil, on).at(-1);
          const onTime = timesBetween(schedule, on, off);
          heldUntil = off;
          return [
            ...(missed === undefined ? [] : [{ due: missed, at: on }]),
            ...onTime.map((due) => ({ due, at: due })),
          ];
        });
        expect(runs.map(({ due, at }) => ({ due, at }))).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
}, 60_000);

it("one that comes due all the time lets others of the same mirror begin", async () => {
  const start = Date.UTC(2026, 0, 1, 5, 55);
  const all = { ...someSchedule, addedAt: new Date(start).toISOString() };
  const schedules = [
    { ...all, name: "a", cron: "* * * * * *" },
    { ...all, name: "b", cron: "*/2 * * * * *" },
    { ...all, name: "c", cron: "0 6 * * *" },
  ];
  const begun = await live(schedules, [{ on: start, off: start + 15 * minute }], [50_000]);
  const count = (name: string) => begun.filter((run) => run.schedule.name === name).length;
  expect(count("c")).toBe(1);
  expect(Math.abs(count("a") - count("b"))).toBeLessThanOrEqual(1);
});
