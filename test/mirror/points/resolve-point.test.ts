/** The run that a point resolves to, in mirrors whose clock was sometimes wrong. */
import fc from "fast-check";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type Point, parsePoint } from "../../../src/mirror/points/point.ts";
import { resolvePoint, resolveSince } from "../../../src/mirror/points/resolve-point.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { utcSecond } from "../../../src/presentation/times.ts";
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

/** Inserts runs that ended at these seconds; null for an open one. */
function insertRuns(...ends: readonly (number | null)[]): void {
  const insert = mirror.db.prepare(
    "insert into _run (started_at, ended_at, mode, scope_json) values ('2026-01-01T00:00:00.000Z', ?, 'full', '{}')",
  );
  for (const end of ends) insert.run(end === null ? null : second(end));
}

describe("resolvePoint", () => {
  it("latest is the last run that has ended", () => {
    insertRuns(10, 20, null);
    expect(resolvePoint(mirror.db, { kind: "latest" })).toEqual({ run: 2, endedAt: second(20) });
  });

  it("latest and latest-1 skip runs that sent no request and changed nothing", () => {
    const idle = { requests: { sent: 0 }, resources: { new: 0, changed: 0, gone: 0 } };
    const approving = { ...idle, resources: { new: 0, changed: 0, gone: 2 } };
    const sending = { ...idle, requests: { sent: 5 } };
    const dead = { ...idle, requests: null };
    insertRuns(10, 20, 30, 40, 50, 60);
    const report = mirror.db.prepare("update _run set counts_json = ? where id = ?");
    for (const [n, counts] of [idle, sending, approving, idle, dead, idle].entries())
      report.run(JSON.stringify(counts), n + 1);
    const runs = [0, 1, 2, 3].map((back) => resolvePoint(mirror.db, { kind: "latest", back }).run);
    expect(runs).toEqual([5, 3, 2, 1]);
    expect(resolvePoint(mirror.db, { kind: "run", run: 4 }).run).toBe(4);
  });

  it("a run number is that run", () => {
    insertRuns(10, 20);
    expect(resolvePoint(mirror.db, { kind: "run", run: 1 })).toEqual({ run: 1, endedAt: second(10) });
  });

  it("a time is the last run by number that had ended by then, including that millisecond", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 8 }), fc.nat(20), (ends, time) => {
        mirror.db.exec("delete from _run");
        insertRuns(...ends);
        const matching = ends.flatMap((end, n) => (end !== null && end <= time ? [n + 1] : []));
        const resolve = () => resolvePoint(mirror.db, by(time)).run;
        if (matching.length === 0) expect(resolve).toThrow(expect.objectContaining({ code: "too-early" }));
        else expect(resolve()).toBe(matching.at(-1));
      }),
    );
  });
});

describe("pruned runs", () => {
  const prune = (...ids: readonly number[]) => mirror.pruneRuns(ids, second(99));

  it("a time resolves to the last remaining run by then", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ end: fc.nat(20), isPruned: fc.boolean() }), { minLength: 1, maxLength: 8 }),
        fc.nat(20),
        (all, time) => {
          mirror.db.exec("delete from _run");
          insertRuns(...all.map(({ end }) => end));
          const isKept = (n: number) => n === all.length - 1 || !all[n]?.isPruned;
          prune(...all.flatMap((_run, n) => (isKept(n) ? [] : [n + 1])));
          const matching = all.flatMap(({ end }, n) => (end <= time && isKept(n) ? [n + 1] : []));
          const resolve = () => resolvePoint(mirror.db, by(time)).run;
          if (matching.length === 0) expect(resolve).toThrow(expect.objectContaining({ code: "too-early" }));
          else expect(resolve()).toBe(matching.at(-1));
        },
      ),
    );
  });

  it("a pruned run is refused with the nearest remaining runs", () => {
    insertRuns(10, 20, 30, 40, 50);
    prune(1, 3, 4);
    const refusal = (run: number) => {
      const nearest = { 1: [2], 3: [2, 5], 4: [2, 5] }[run]?.map(
        (id) => `run ${id} (${utcSecond(second(id * 10))})`,
      );
      return {
        code: "pruned",
        message: `Run ${run} was pruned by \`armoire mirror compact\`.`,
        hint: `Nearest available: ${nearest?.join(" and ")}.`,
      };
    };
    for (const run of [1, 3, 4])
      expect(() => resolvePoint(mirror.db, { kind: "run", run })).toThrow(
        expect.objectContaining(refusal(run)),
      );
    expect(() => resolvePoint(mirror.db, by(15))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(
          `No remaining run had ended by "then" in the time zone Europe/Berlin (${utcSecond(second(15))})`,
        ),
        hint: `Available runs: from run 2 (${utcSecond(second(20))}) to run 5 (${utcSecond(second(50))}).`,
      }),
    );
  });
});

it("latest-N counts only runs that have ended", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 8 }), fc.nat(9), (ends, back) => {
      mirror.db.exec("delete from _run");
      insertRuns(...ends);
      const run = ends.flatMap((end, n) => (end === null ? [] : [n + 1])).at(-1 - back);
      const resolve = () => resolvePoint(mirror.db, { kind: "latest", back }).run;
      if (run === undefined) expect(resolve).toThrow(expect.objectContaining({ code: "no-such-run" }));
      else expect(resolve()).toBe(run);
    }),
  );
});

it("latest-N of too few runs names the latest, without runs that did nothing", () => {
  insertRuns(10, 20, 30);
  const counts = JSON.stringify({ requests: { sent: 0 }, resources: { new: 0, changed: 0, gone: 0 } });
  mirror.db.prepare("update _run set counts_json = ? where id > 1").run(counts);
  expect(() => resolvePoint(mirror.db, { kind: "latest", back: 1 })).toThrow(
    "There is no run latest-1: the latest run is run 1, without those that sent and changed nothing.",
  );
});

describe("a point that the mirror does not have", () => {
  it.each<[string, Point, string]>([
    ["an unknown run", { kind: "run", run: 4 }, "There is no run 4"],
    ["run 0", { kind: "run", run: 0 }, "There is no run 0"],
    [
      "a run before the first",
      { kind: "latest", back: 2 },
      "There is no run latest-2: the latest run is run 2",
    ],
    ["an open run", { kind: "run", run: 3 }, "Run 3 has not ended."],
    [
      "a time before the end of the first run",
      by(9),
      `No run had ended by "then" in the time zone Europe/Berlin (${utcSecond(second(9))}).`,
    ],
  ])("%s is refused with the available runs", (_case, point, message) => {
    insertRuns(10, 20, null);
    expect(() => resolvePoint(mirror.db, point)).toThrow(
      expect.objectContaining({
        name: "PointError",
        message: expect.stringContaining(message),
        hint: `Available runs: from run 1 (${utcSecond(second(10))}) to run 2 (${utcSecond(second(20))}).`,
      }),
    );
  });

  it("every point is refused while no run has ended", () => {
    insertRuns(null);
    for (const point of [{ kind: "latest" } as const, { kind: "run", run: 1 } as const, by(99)])
      expect(() => resolvePoint(mirror.db, point)).toThrow(
        expect.objectContaining({ hint: expect.stringMatching(/^No run has ended yet/) }),
      );
  });
});

describe("resolveSince", () => {
  it("a day selects the last run before it, so that all of that day counts, and a run selects itself", () => {
    const insert = mirror.db.prepare(
      "insert into _run (started_at, ended_at, mode, scope_json) values ('2026-01-01T00:00:00.000Z', ?, 'full', '{}')",
    );
    for (const day of ["02", "03", "04"]) insert.run(`2026-11-${day}T06:10:00.000Z`);
    const since = (text: string) =>
      resolveSince(mirror.db, parsePoint(text, { now: Date.UTC(2026, 10, 5), timeZone: "UTC" })).run;
    const texts = ["2026-11-03", "2026-11-03T06:10", "2026-11-03T06:11", "-1d", "2", "latest"];
    expect(texts.map(since)).toEqual([1, 1, 2, 2, 2, 3]);
    expect(() => since("2026-11-02")).toThrow(
      /^No run had ended by "2026-11-02.* \(2026-11-01 23:59:59 UTC\)/,
    );
  });
});
