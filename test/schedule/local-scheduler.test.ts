/** The local scheduler on a virtual clock, with random schedules, run durations and power cuts. */
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

interface StartedRun {
  readonly schedule: Schedule;
  readonly due: number;
  readonly startedAt: number;
  /** Null after a power cut. */
  endedAt: number | null;
}

/** A time during which the machine is on; epoch milliseconds. */
interface Session {
  readonly from: number;
  readonly until: number;
}

/** @param durations of the runs, in turn, in milliseconds */
async function simulate(
  schedules: readonly Schedule[],
  sessions: readonly Session[],
  durations: readonly number[],
) {
  const started: StartedRun[] = [];
  for (const { from, until } of sessions) {
    const clock = virtualClock(from);
    const powerCut = new AbortController();
    const lastRunOf = (schedule: Schedule): LastRun | null => {
      const runs = started.filter((run) => run.schedule === schedule);
      const last = runs.at(-1);
      if (last === undefined) return null;
      const isLost = last.endedAt === null && last.startedAt < from;
      return { due: last.due, isLost, isRepeat: runs.at(-2)?.due === last.due };
    };
    const running = runLocally({
      candidates: () => schedules.map((schedule): Candidate => ({ schedule, lastRun: lastRunOf(schedule) })),
      async execute({ schedule, due }) {
        const run: StartedRun = { schedule, due, startedAt: clock.now(), endedAt: null };
        started.push(run);
        const duration = durations[started.length % durations.length] ?? minute;
        await clock.sleep(duration, powerCut.signal).then(
          () => {
            run.endedAt = clock.now();
          },
          () => {},
        );
      },
      ...{ clock, pollMillis: 24 * 60 * minute, signal: powerCut.signal },
    });
    await clock.advanceTo(until);
    powerCut.abort();
    await running;
  }
  return started;
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
    .map((records) =>
      records.map(
        (record, index): Schedule => ({
          ...someSchedule,
          ...record,
          ...{ name: `s${index}`, addedAt: new Date(addedAt).toISOString() },
        }),
      ),
    );

const arbitraryHistory = arbitraryMoment.chain((start) =>
  fc.record({
    schedules: schedulesOf(start),
    durations: fc.array(fc.integer({ min: 1, max: 90 * minute }), { minLength: 1, maxLength: 5 }),
    sessions: fc
      .array(
        fc.tuple(fc.integer({ min: 1, max: 300 * minute }), fc.integer({ min: 1, max: 30 * 60 * minute })),
        {
          minLength: 1,
          maxLength: 4,
        },
      )
      .map((spans) => {
        let next = start;
        return spans.map(([onMillis, offMillis]): Session => {
          const from = next;
          next += onMillis + offMillis;
          return { from, until: from + onMillis };
        });
      }),
  }),
);

it("a mirror has at most one run at a time, and a due time at most one completed run", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryHistory, async ({ schedules, sessions, durations }) => {
      const started = await simulate(schedules, sessions, durations);
      for (const mirror of ["catalogue", "ada"]) {
        const runs = started.filter((run) => run.schedule.mirror === mirror);
        runs.forEach((run, index) => {
          const previous = runs[index - 1];
          if (previous?.endedAt) expect(run.startedAt).toBeGreaterThanOrEqual(previous.endedAt);
        });
      }
      for (const schedule of schedules) {
        const runs = started.filter((run) => run.schedule === schedule);
        runs.forEach((run, index) => {
          expect(run.due).toBe(timeUpTo(schedule, run.due));
          expect(run.startedAt).toBeGreaterThanOrEqual(run.due);
          const [previous, secondLast] = [runs[index - 1], runs[index - 2]];
          if (previous === undefined) return;
          if (run.due > previous.due) return;
          // Only a run that a power cut ended is repeated, and only once.
          expect({ due: run.due, endedAt: previous.endedAt }).toEqual({ due: previous.due, endedAt: null });
          expect(secondLast?.due).not.toBe(run.due);
        });
      }
    }),
    { numRuns: 60 },
  );
});

it("due times missed during a power cut are made up for by one run, and no other due time is skipped", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryHistory, async ({ schedules, sessions }) => {
      const independent = schedules.map((schedule) => ({ ...schedule, mirror: schedule.name }));
      // Runs end at once, so that none blocks another.
      const started = await simulate(independent, sessions, [0]);
      for (const schedule of independent) {
        const runs = started.filter((run) => run.schedule === schedule);
        let coveredUntil = Date.parse(schedule.addedAt);
        const expected = sessions.flatMap(({ from, until }) => {
          const missed = timesBetween(schedule, coveredUntil, from).at(-1);
          const onTime = timesBetween(schedule, from, until);
          coveredUntil = until;
          return [
            ...(missed === undefined ? [] : [{ due: missed, startedAt: from }]),
            ...onTime.map((due) => ({ due, startedAt: due })),
          ];
        });
        expect(runs.map(({ due, startedAt }) => ({ due, startedAt }))).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
});

it("a schedule that is always due does not block others of the same mirror", async () => {
  const start = Date.UTC(2026, 0, 1, 5, 55);
  const shared = { ...someSchedule, addedAt: new Date(start).toISOString() };
  const schedules = [
    { ...shared, name: "a", cron: "* * * * * *" },
    { ...shared, name: "b", cron: "*/2 * * * * *" },
    { ...shared, name: "c", cron: "0 6 * * *" },
  ];
  const session = { from: start, until: start + 15 * minute };
  const started = await simulate(schedules, [session], [50_000]);
  const count = (name: string) => started.filter((run) => run.schedule.name === name).length;
  expect(count("c")).toBe(1);
  expect(Math.abs(count("a") - count("b"))).toBeLessThanOrEqual(1);
});
