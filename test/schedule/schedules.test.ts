import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { takeLock } from "../../src/platform/process-lock.ts";
import { maxRuns, readRuns, recordRun, type ScheduledRun } from "../../src/schedule/run-history.ts";
import {
  addSchedule,
  listSchedules,
  type NewSchedule,
  removeSchedule,
} from "../../src/schedule/schedules.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { firstKill, killStride } from "../support/thorough.ts";

const clock = { now: () => Date.UTC(2026, 0, 1), random: () => 0.5 };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let dataDir: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder.path, "data");
});
afterEach(() => folder[Symbol.asyncDispose]());

const add = (name: string, parts: Partial<NewSchedule> = {}) =>
  addSchedule({
    ...{ dataDir, clock, name, cron: "0 6 * * *", tz: "UTC", jitterMillis: 0 },
    ...{ args: ["sync"], folder: "/", mirror: "catalogue", ...parts },
  });
const names = () => listSchedules(dataDir).map(({ name }) => name);
const file = () => join(dataDir, "schedules.json");

const someRun = (minute: number): ScheduledRun => ({
  ...{ due: new Date(minute * 60_000).toISOString(), startedAt: new Date(minute * 60_000 + 5).toISOString() },
  ...{ scheduler: { pid: 1, host: "here", startedAt: "2026-01-01T00:00:00.000Z" }, attempts: 1 },
  ...{ endedAt: null, exitCode: null, seconds: null, counts: null, error: null },
});

describe("stored schedules", () => {
  it("schedules are sorted by name, readable by their owner only, and removed together with their run history", () => {
    add("weekly");
    add("daily");
    recordRun(dataDir, "daily", someRun(1));
    expect(names()).toEqual(["daily", "weekly"]);
    if (process.platform !== "win32") {
      expect(statSync(file()).mode & 0o777).toBe(0o600);
      expect(statSync(join(dataDir, "schedule-runs", "daily.json")).mode & 0o777).toBe(0o600);
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    }
    removeSchedule(dataDir, "daily", clock);
    expect(names()).toEqual(["weekly"]);
    expect(readRuns(dataDir, "daily")).toEqual([]);
    expect(readdirSync(dataDir).sort()).toEqual(["schedule-runs", "schedules.json"]);
  });

  it("schedules draw their delay from the jitter once, in whole seconds", () => {
    expect(add("daily", { jitterMillis: 61_000 }).delayMillis).toBe(30_000);
    expect(listSchedules(dataDir)[0]?.delayMillis).toBe(30_000);
  });

  it.each([
    ["0 6 * * *", 60_000],
    ["* * * * *", 6_000],
    ["*/15 * * * * *", 1_000],
    ["* * * * * *", 0],
  ])("without a given jitter, %s has one of a tenth of its interval, at most a minute", (cron, expected) => {
    const { name, tz, args } = { name: "daily", tz: "UTC", args: ["sync"] };
    const added = addSchedule({ dataDir, clock, name, cron, tz, args, folder: "/", mirror: "catalogue" });
    expect(added.jitterMillis).toBe(expected);
    expect(added.delayMillis).toBe(Math.floor(expected / 2000) * 1000);
  });

  it("a replaced schedule has the new times, and keeps its run history", () => {
    add("daily");
    recordRun(dataDir, "daily", someRun(1));
    add("daily", { cron: "0 7 * * *", replace: true });
    expect(listSchedules(dataDir)).toEqual([expect.objectContaining({ name: "daily", cron: "0 7 * * *" })]);
    expect(readRuns(dataDir, "daily")).toEqual([someRun(1)]);
  });

  it("replacing a schedule by an equal one changes nothing, nor when it is due", () => {
    const first = add("daily", { jitterMillis: 61_000 });
    const later = { ...clock, now: () => Date.parse(first.addedAt) + 86_400_000 };
    expect(add("daily", { jitterMillis: 61_000, replace: true, clock: later })).toEqual(first);
    expect(listSchedules(dataDir)).toEqual([first]);
  });

  it.each([
    ["taken", () => [add("daily"), add("daily")]],
    ["bad-name", () => add("Daily")],
    ["bad-name", () => add("../daily")],
    ["bad-name", () => add("abcdefgh0123456789")],
    ["bad-time", () => add("daily", { cron: "0 6 30 2 *" })],
    ["unknown", () => removeSchedule(dataDir, "dialy", clock)],
    ["too-many", () => add("daily", { args: ["x".repeat(1_100_000)] })],
  ])("schedules stay unchanged when a change fails as %s", (code, act) => {
    add("other");
    expect(act).toThrow(expect.objectContaining({ name: "ScheduleError", code }));
    expect(names().filter((name) => name !== "daily")).toEqual(["other"]);
  });

  it("schedules suggest a similar name for an unknown one", () => {
    add("daily");
    expect(() => removeSchedule(dataDir, "dailly", clock)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("Did you mean daily?") }),
    );
  });

  it.each([
    ["damaged", "{"],
    ["damaged", JSON.stringify({ version: 1, id: "x", schedules: [] })],
    ["newer", JSON.stringify({ version: 2 })],
  ])("schedules cannot be read or overwritten in a file that is %s", (code, text) => {
    add("daily");
    writeFileSync(file(), text);
    expect(names).toThrow(expect.objectContaining({ code }));
    expect(() => add("weekly")).toThrow(expect.objectContaining({ code }));
    expect(readFileSync(file(), "utf8")).toBe(text);
  });

  it("schedules cannot be read from a file that other users can write", () => {
    add("daily");
    spawnSync("chmod", ["666", file()]);
    expect(names).toThrow(expect.objectContaining({ name: "FileError", code: "unsafe" }));
  });

  it("schedules are changed by one process at a time; the error for another process names it", () => {
    mkdirSync(dataDir);
    const lock = takeLock(join(dataDir, "schedules"), {
      startedAt: "2026-01-01T00:00:00.000Z",
      busyMessage: "In use",
    });
    try {
      expect(() => add("daily")).toThrow(
        expect.objectContaining({
          code: "locked",
          message: expect.stringContaining(`process ${process.pid}`),
        }),
      );
    } finally {
      lock.release();
    }
  });

  it(`schedules are either unchanged or fully changed after a process is killed at any step, and can be changed again (each ${killStride}., from ${firstKill})`, () => {
    add("first");
    let step = firstKill;
    for (; ; step += killStride) {
      const program = join(import.meta.dirname, "support/dying-process.ts");
      const { signal, status, stderr } = spawnSync(process.execPath, [program, dataDir, String(step)]);
      expect({ status, stderr: String(stderr) }).toEqual({ status: signal === null ? 0 : null, stderr: "" });
      expect([["first"], ["first", "second"]]).toContainEqual(names());
      const runs = readRuns(dataDir, "second").length;
      expect(runs).toBeLessThanOrEqual(1);
      if (signal === null) {
        expect({ names: names(), runs }).toEqual({ names: ["first", "second"], runs: 1 });
        break;
      }
      if (names().includes("second")) removeSchedule(dataDir, "second", clock);
    }
    expect(step).toBeGreaterThan(8);
    expect(existsSync(`${file()}.new`)).toBe(false);
  });
});

describe("history", () => {
  it("the run history has the newest runs, and the end of a run replaces its start", () => {
    for (let minute = 1; minute <= maxRuns + 5; minute++) {
      recordRun(dataDir, "daily", someRun(minute));
      recordRun(dataDir, "daily", { ...someRun(minute), endedAt: "2026-01-01T00:00:00.000Z", exitCode: 0 });
    }
    const runs = readRuns(dataDir, "daily");
    expect(runs).toHaveLength(maxRuns);
    expect(runs.at(-1)).toMatchObject({ due: someRun(maxRuns + 5).due, exitCode: 0 });
    expect(runs.every(({ endedAt }) => endedAt !== null)).toBe(true);
  });

  it("the run history is empty if it cannot be read, and new runs are then recorded", () => {
    recordRun(dataDir, "daily", someRun(1));
    writeFileSync(join(dataDir, "schedule-runs", "daily.json"), "{");
    expect(readRuns(dataDir, "daily")).toEqual([]);
    recordRun(dataDir, "daily", someRun(2));
    expect(readRuns(dataDir, "daily")).toHaveLength(1);
  });
});
