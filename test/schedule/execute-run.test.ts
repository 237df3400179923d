/** One due run, with small scripts in place of this program. */
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

interface ExecuteOptions {
  readonly cancel?: AbortController;
  readonly onLine?: (line: string) => void;
  readonly cwd?: string;
}

/** @param script the program; its arguments are in `process.argv` */
async function execute(
  script: string,
  { cancel = new AbortController(), onLine = () => {}, cwd }: ExecuteOptions = {},
) {
  const delays: number[] = [];
  const context: ExecuteRunContext = {
    ...{ dataDir, program: { command: process.execPath, args: ["-e", script, "--"], env: process.env } },
    scheduler: { pid: process.pid, host: "here", startedAt: new Date(due).toISOString() },
    clock: {
      ...systemClock,
      // Retries are immediate. An interrupted command has a minute before it is killed.
      sleep(millis, signal) {
        if (!signal || signal !== cancel.signal) return systemClock.sleep(60_000, signal);
        delays.push(millis);
        return Promise.resolve();
      },
    },
    signal: cancel.signal,
    redact: (text) => text.replaceAll("hunter2", "[hidden]"),
    ...{ onStart: () => {}, onLine: (_schedule, line) => onLine(line), onEnd: () => {} },
  };
  await executeRun(
    { ...someSchedule, folder: cwd ?? folder.path, args: ["sync", "--depth", "models"] },
    due,
    context,
  );
  const runs = readRuns(dataDir, someSchedule.name);
  return { run: runs.at(-1), runs, delays };
}

it("a finished run records the numbers of its report, its duration and its exit code", async () => {
  const { run, runs } = await execute(`console.log(${JSON.stringify(JSON.stringify(syncReport))})`);
  expect(runs).toHaveLength(1);
  expect(run).toMatchObject({
    ...{ due: "2026-01-02T06:00:00.000Z", attempts: 1, exitCode: 0, error: null },
    counts: { new: 5, changed: 1, gone: 0, pending: 2, failed: 0, counted: 7 },
  });
  expect(run?.seconds).toBeGreaterThanOrEqual(0);
  expect(run?.endedAt).not.toBeNull();
});

it("the command runs in the folder of its schedule, with --json and --quiet", async () => {
  const { run } = await execute(
    `console.error(JSON.stringify([process.argv.slice(1), process.cwd()])); process.exit(1)`,
  );
  expect(JSON.parse(run?.error ?? "")).toEqual([
    ["sync", "--json", "--quiet", "--depth", "models"],
    folder.path,
  ]);
});

it("a failed run records its error message, without the hint and without secrets", async () => {
  const script = `console.error("armoire: the token hunter2 is refused\\nGet a new one."); process.exit(4)`;
  expect((await execute(script)).run).toMatchObject({
    exitCode: 4,
    error: "armoire: the token [hidden] is refused",
  });
});

it("a run whose mirror is locked is retried four times, then fails", async () => {
  const { run, delays } = await execute("process.exit(11)");
  expect(run).toMatchObject({ exitCode: 11, attempts: 5 });
  expect(delays).toEqual([10_000, 30_000, 60_000, 120_000]);
});

it("a run succeeds once the lock is released", async () => {
  const marker = join(folder.path, "second-attempt");
  const script = `const { existsSync, writeFileSync } = require("node:fs");
    if (existsSync(${JSON.stringify(marker)})) process.exit(0);
    writeFileSync(${JSON.stringify(marker)}, ""); process.exit(11)`;
  const { run, runs } = await execute(script);
  expect(runs).toHaveLength(1);
  expect(run).toMatchObject({ exitCode: 0, attempts: 2 });
});

it.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("%s is passed on to the command, which then has time to exit", async (signal, exitCode) => {
  const cancel = new AbortController();
  const script = `process.on("${signal}", () => process.exit(${exitCode})); setInterval(() => {}, 1000); console.error("ready")`;
  const { run, delays } = await execute(script, { cancel, onLine: () => cancel.abort(signal) });
  expect(run).toMatchObject({ exitCode });
  expect(delays).toEqual([]);
});

it("a command that dies from SIGTERM before handling it counts as interrupted", async () => {
  const cancel = new AbortController();
  const script = `console.error("ready"); setInterval(() => {}, 1000)`;
  const { run } = await execute(script, { cancel, onLine: () => cancel.abort("SIGTERM") });
  expect(run).toMatchObject({ exitCode: 143, error: "ready" });
});

it("a run without a known report has no counts", async () => {
  expect((await execute(`console.log("[1]")`)).run).toMatchObject({ exitCode: 0, counts: null });
  expect((await execute("")).run).toMatchObject({ exitCode: 0, counts: null });
});

it("a run whose folder is gone records that as its error", async () => {
  const { run } = await execute("", { cwd: join(folder.path, "gone") });
  expect(run).toMatchObject({
    exitCode: null,
    error: `the folder ${join(folder.path, "gone")} does not exist any more`,
  });
});

it("a run that is killed records the signal as its error", async () => {
  const { run } = await execute(`process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000)`);
  expect(run).toMatchObject({ exitCode: null, error: "ended by SIGKILL" });
});

it("an export that was unchanged is not recorded as written, and one of an incomplete mirror says what is missing", async () => {
  const report = {
    files: [
      { table: "brand", rows: 3 },
      { table: "model", rows: 4 },
    ],
    isUnchanged: true,
  };
  const print = (isUnchanged: boolean, due: number) => {
    const coverage = { complete: due === 0, kinds: [{ kind: "model", due, failed: 0 }] };
    return `console.log(${JSON.stringify(JSON.stringify({ ...report, coverage, isUnchanged }))})`;
  };
  await execute(print(false, 0));
  await execute(print(true, 0));
  await execute(print(true, 360));
  expect(readRuns(dataDir, someSchedule.name).map(({ counts }) => counts)).toEqual([
    { files: 2, rows: 7 },
    { unchanged: 2 },
    { unchanged: 2, missing: 360 },
  ]);
});
