/** One due run, with small programs in the place of this one. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { type ExecuteRunContext, executeRun } from "../../src/schedule/run/execute-run.ts";
import { readRuns } from "../../src/schedule/run-history.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { someSchedule } from "./support/arbitrary-schedule.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let dataDir: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder.path, "data");
});
afterEach(() => folder[Symbol.asyncDispose]());

const due = Date.UTC(2026, 0, 2, 6);
const syncReport = {
  requests: { sent: 9, counted: 7 },
  resources: { new: 5, changed: 1, unchanged: 3, gone: 0, pending: 2, failed: 0, skipped: 0 },
};

interface Carried {
  readonly ending?: AbortController;
  readonly onLine?: (line: string) => void;
  readonly cwd?: string;
}

/** @param script what the program does; its arguments are in `process.argv` */
async function carry(
  script: string,
  { ending = new AbortController(), onLine = () => {}, cwd }: Carried = {},
) {
  const pauses: number[] = [];
  const context: ExecuteRunContext = {
    ...{ dataDir, program: { command: process.execPath, args: ["-e", script, "--"], env: process.env } },
    scheduler: { pid: process.pid, host: "here", startedAt: new Date(due).toISOString() },
    clock: {
      ...systemClock,
      // Patience takes no time, and whoever is asked to end has all of it.
      sleep(millis, signal) {
        if (!signal || signal !== ending.signal) return systemClock.sleep(60_000, signal);
        pauses.push(millis);
        return Promise.resolve();
      },
    },
    ending: ending.signal,
    hide: (text) => text.replaceAll("hunter2", "[hidden]"),
    ...{ onBegin: () => {}, onLine: (_schedule, line) => onLine(line), onEnd: () => {} },
  };
  await executeRun(
    { ...someSchedule, folder: cwd ?? folder.path, args: ["sync", "--depth", "models"] },
    due,
    context,
  );
  const runs = readRuns(dataDir, someSchedule.name);
  return { run: runs.at(-1), runs, pauses };
}

it("keeps what the command counted, how long it took and how it ended", async () => {
  const { run, runs } = await carry(`console.log(${JSON.stringify(JSON.stringify(syncReport))})`);
  expect(runs).toHaveLength(1);
  expect(run).toMatchObject({
    ...{ due: "2026-01-02T06:00:00.000Z", attempts: 1, exitCode: 0, said: null },
    counts: { new: 5, changed: 1, gone: 0, pending: 2, failed: 0, counted: 7 },
  });
  expect(run?.seconds).toBeGreaterThanOrEqual(0);
  expect(run?.endedAt).not.toBeNull();
});

it("asks for a report, in the folder that the schedule was made in", async () => {
  const { run } = await carry(
    `console.error(JSON.stringify([process.argv.slice(1), process.cwd()])); process.exit(1)`,
  );
  expect(JSON.parse(run?.said ?? "")).toEqual([
    ["sync", "--json", "--quiet", "--depth", "models"],
    folder.path,
  ]);
});

it("keeps what was wrong, without what to do next and without secrets", async () => {
  const script = `console.error("armoire: the token hunter2 is refused\\nGet a new one."); process.exit(4)`;
  expect((await carry(script)).run).toMatchObject({
    exitCode: 4,
    said: "armoire: the token [hidden] is refused",
  });
});

it("tries again while the mirror is locked, and tells so where it stays locked", async () => {
  const { run, pauses } = await carry("process.exit(11)");
  expect(run).toMatchObject({ exitCode: 11, attempts: 5 });
  expect(pauses).toEqual([10_000, 30_000, 60_000, 120_000]);
});

it("is done when the lock is gone at the second time", async () => {
  const marker = join(folder.path, "been-here");
  const script = `const { existsSync, writeFileSync } = require("node:fs");
    if (existsSync(${JSON.stringify(marker)})) process.exit(0);
    writeFileSync(${JSON.stringify(marker)}, ""); process.exit(11)`;
  const { run, runs } = await carry(script);
  expect(runs).toHaveLength(1);
  expect(run).toMatchObject({ exitCode: 0, attempts: 2 });
});

it.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("passes %s on, and waits for the end", async (signal, exitCode) => {
  const ending = new AbortController();
  const script = `process.on("${signal}", () => process.exit(${exitCode})); setInterval(() => {}, 1000); console.error("ready")`;
  const { run, pauses } = await carry(script, { ending, onLine: () => ending.abort(signal) });
  expect(run).toMatchObject({ exitCode });
  expect(pauses).toEqual([]);
});

it("a command that a signal ends before it can hear it is interrupted all the same", async () => {
  const ending = new AbortController();
  const script = `console.error("ready"); setInterval(() => {}, 1000)`;
  const { run } = await carry(script, { ending, onLine: () => ending.abort("SIGTERM") });
  expect(run).toMatchObject({ exitCode: 143, said: "ready" });
});

it("a report of another shape, or none, is no trouble", async () => {
  expect((await carry(`console.log("[1]")`)).run).toMatchObject({ exitCode: 0, counts: null });
  expect((await carry("")).run).toMatchObject({ exitCode: 0, counts: null });
});

it("a folder that is gone is told", async () => {
  const { run } = await carry("", { cwd: join(folder.path, "gone") });
  expect(run).toMatchObject({
    exitCode: null,
    said: `there is no folder ${join(folder.path, "gone")} any more`,
  });
});

it("a run that a signal ends is told", async () => {
  const { run } = await carry(`process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000)`);
  expect(run).toMatchObject({ exitCode: null, said: "ended by SIGKILL" });
});
