/** Which run a point names, in mirrors whose clock was not always right. */
import fc from "fast-check";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Point } from "../../../src/mirror/points/point.ts";
import { resolvePoint } from "../../../src/mirror/points/resolve-point.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { startMirrorRig } from "../support/mirror-rig.ts";

let mirror: MirrorWriter;
beforeEach(async () => {
  const rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
});

const second = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
const by = (n: number): Point => ({
  ...{ kind: "time", from: second(n), at: second(n) },
  ...{ text: "then", timeZone: "Europe/Berlin" },
});

/** Runs that ended at these seconds; null for one that has not. */
function runs(...ends: readonly (number | null)[]): void {
  const insert = mirror.db.prepare(
    "insert into _run (started_at, ended_at, mode, scope_json) values ('', ?, '', '{}')",
  );
  for (const end of ends) insert.run(end === null ? null : second(end));
}

describe("the point", () => {
  it("latest is the last run that has ended", () => {
    runs(10, 20, null);
    expect(resolvePoint(mirror.db, { kind: "latest" })).toEqual({ run: 2, endedAt: second(20) });
  });

  it("of a run is that run", () => {
    runs(10, 20);
    expect(resolvePoint(mirror.db, { kind: "run", run: 1 })).toEqual({ run: 1, endedAt: second(10) });
  });

  it("of a time is the last run by number that had ended by then, the very millisecond included", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 8 }), fc.nat(20), (ends, time) => {
        mirror.db.exec("delete from _run");
        runs(...ends);
        const fitting = ends.flatMap((end, n) => (end !== null && end <= time ? [n + 1] : []));
        const ask = () => resolvePoint(mirror.db, by(time)).run;
        if (fitting.length === 0) expect(ask).toThrow(expect.objectContaining({ code: "too-early" }));
        else expect(ask()).toBe(fitting.at(-1));
      }),
    );
  });
});

describe("runs that are forgotten", () => {
  const forget = (...ids: readonly number[]) => mirror.pruneRuns(ids, second(99));

  it("are no points: a time means the last one by then that is kept", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ end: fc.nat(20), isForgotten: fc.boolean() }), { minLength: 1, maxLength: 8 }),
        fc.nat(20),
        (all, time) => {
          mirror.db.exec("delete from _run");
          runs(...all.map(({ end }) => end));
          const isKept = (n: number) => n === all.length - 1 || !all[n]?.isForgotten;
          forget(...all.flatMap((_run, n) => (isKept(n) ? [] : [n + 1])));
          const fitting = all.flatMap(({ end }, n) => (end <= time && isKept(n) ? [n + 1] : []));
          const ask = () => resolvePoint(mirror.db, by(time)).run;
          if (fitting.length === 0) expect(ask).toThrow(expect.objectContaining({ code: "too-early" }));
          else expect(ask()).toBe(fitting.at(-1));
        },
      ),
    );
  });

  it("are refused with the nearest ones that are kept", () => {
    runs(10, 20, 30, 40, 50);
    forget(1, 3, 4);
    const refusal = (run: number) => {
      const nearest = { 1: [2], 3: [2, 5], 4: [2, 5] }[run]?.map((id) => `run ${id} (${second(id * 10)})`);
      return {
        code: "forgotten",
        message: `Run ${run} is forgotten`,
        hint: `The nearest that can be shown: ${nearest?.join(" and ")}.`,
      };
    };
    for (const run of [1, 3, 4])
      expect(() => resolvePoint(mirror.db, { kind: "run", run })).toThrow(
        expect.objectContaining(refusal(run)),
      );
    expect(() => resolvePoint(mirror.db, by(15))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`No run that is kept had ended by ${second(15)}`),
        hint: `The points there are: from run 2 (${second(20)}) to run 5 (${second(50)}).`,
      }),
    );
  });
});

it("so many runs before the latest counts those that have ended", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 8 }), fc.nat(9), (ends, back) => {
      mirror.db.exec("delete from _run");
      runs(...ends);
      const run = ends.flatMap((end, n) => (end === null ? [] : [n + 1])).at(-1 - back);
      const ask = () => resolvePoint(mirror.db, { kind: "latest", back }).run;
      if (run === undefined) expect(ask).toThrow(expect.objectContaining({ code: "no-such-run" }));
      else expect(ask()).toBe(run);
    }),
  );
});

describe("a point that is none of this mirror", () => {
  it.each<[string, Point, string]>([
    ["a run that there is not", { kind: "run", run: 4 }, "There is no run 4"],
    ["no run", { kind: "run", run: 0 }, "There is no run 0"],
    ["a run before all", { kind: "latest", back: 2 }, "No run is 2 before the latest, which is run 2"],
    ["a run that has not ended", { kind: "run", run: 3 }, "Run 3 has not ended"],
    ["a time before the first end", by(9), `No run had ended by ${second(9)} (then in Europe/Berlin)`],
  ])("(%s) is refused with the points that there are", (_what, point, message) => {
    runs(10, 20, null);
    expect(() => resolvePoint(mirror.db, point)).toThrow(
      expect.objectContaining({
        name: "PointError",
        message: expect.stringContaining(message),
        hint: `The points there are: from run 1 (${second(10)}) to run 2 (${second(20)}).`,
      }),
    );
  });

  it("is any, as long as no run has ended", () => {
    runs(null);
    for (const point of [{ kind: "latest" } as const, { kind: "run", run: 1 } as const, by(99)])
      expect(() => resolvePoint(mirror.db, point)).toThrow(
        expect.objectContaining({ hint: expect.stringMatching(/^No run has ended yet/) }),
      );
  });
});
