/** Schedules at the command line: added, run and listed. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ListedSchedule } from "../../src/cli/format/operations/schedules.ts";
import { verifyDataPackage } from "../../src/index.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { logLines } from "../support/log-lines.ts";
import { startRedis } from "../support/redis.ts";
import {
  type CommandResult,
  callArmoire,
  type RunningArmoire,
  runArmoire,
  startArmoire,
  temporaryFolder,
} from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({ brands: 3, models: 5, sizes: 8 });
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

let dataDirs = 0;
const newDataDir = () => join(folder.path, `data-${++dataDirs}`);
const callSchedule = (dataDir: string, ...args: readonly string[]): Promise<CommandResult> =>
  callArmoire(["schedule", ...args, "--data-dir", dataDir]);

/** @param args all arguments after `schedule add`, including the command after `--` */
async function add(dataDir: string, ...args: readonly string[]): Promise<ListedSchedule> {
  const { stdout, stderr, exitCode } = await callArmoire([
    "schedule",
    "add",
    "--data-dir",
    dataDir,
    "--json",
    ...args,
  ]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return JSON.parse(stdout) as ListedSchedule;
}

async function list(dataDir: string): Promise<readonly ListedSchedule[]> {
  return JSON.parse((await callArmoire(["schedule", "list", "--json", "--data-dir", dataDir])).stdout);
}

const runsOf = async (dataDir: string, name: string) =>
  (await list(dataDir)).find((schedule) => schedule.name === name)?.runs ?? [];

function startScheduler(dataDir: string, ...args: readonly string[]): RunningArmoire {
  return startArmoire(["schedule", "run", "--data-dir", dataDir, ...args]);
}

/** Waits long, since most conditions need a program that has just started. */
const waitFor = (condition: () => Promise<void>) => vi.waitFor(condition, { timeout: 80_000, interval: 400 });
const atNewYear = ["--cron", "0 0 1 1 *", "--tz", "UTC"];
const everySecond = ["--cron", "* * * * * *"];
const sync = () => ["--", "sync", "--base-url", sandbox.url, "--depth", "models"];

/** A due time at New Year was missed, and the next one is far away. */
function backdateSchedules(dataDir: string): void {
  const file = join(dataDir, "schedules.json");
  const addedAt = `"addedAt": "${new Date(Date.now() - 370 * 86_400_000).toISOString()}"`;
  writeFileSync(file, readFileSync(file, "utf8").replace(/"addedAt": "[^"]+"/g, addedAt));
}

/** A slow service, so that a sync is still running when it is stopped. */
const slowService = { brands: 6, models: 20, sizes: 60, latencyMillis: 400, allowance: 10_000 };

describe("one process", () => {
  it("schedules of one process are started when due, and their outcome is logged", async () => {
    const dataDir = newDataDir();
    const added = await add(dataDir, "often", ...everySecond, "--tz", "UTC", ...sync());
    expect(Date.parse(added.nextAt ?? "")).toBeGreaterThan(Date.parse(added.addedAt));
    const running = startScheduler(dataDir);
    await waitFor(async () =>
      expect(
        (await runsOf(dataDir, "often")).filter(({ outcome }) => outcome === "done").length,
      ).toBeGreaterThan(1),
    );
    // A schedule that is added later needs no restart.
    await add(
      dataDir,
      "files",
      ...everySecond,
      "--",
      "export",
      "--out",
      join(dataDir, "out"),
      "--base-url",
      sandbox.url,
    );
    await waitFor(async () => expect((await runsOf(dataDir, "files")).at(0)?.outcome).toBe("done"));
    running.process.kill("SIGTERM");
    const { exitCode, stdout, stderr } = await running.result;
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    const runs = await runsOf(dataDir, "often");
    const [ready, begun, result] = stderr.split("\n").map((line) => JSON.parse(line || "null"));
    expect([ready, begun, result]).toEqual([
      expect.objectContaining({ level: "info", event: "ready", schedules: 1, dataDir }),
      expect.objectContaining({ level: "info", event: "started", schedule: "often", due: runs[0]?.due }),
      expect.objectContaining({ level: "info", event: "ended", schedule: "often", outcome: "done" }),
    ]);
    expect(ready.msg).toMatch(/^Running 1 schedule of .* Press Ctrl-C to stop\.$/);
    expect(result.msg).toMatch(/^often: done in .*; 13 new/);

    expect(runs[0]).toMatchObject({ exitCode: 0, attempts: 1, error: null, counts: { new: 13, failed: 0 } });
    // Runs of one mirror do not overlap.
    runs.slice(1).forEach(({ startedAt }, index) => {
      expect(startedAt >= (runs[index]?.endedAt ?? "")).toBe(true);
    });
    expect(new Set(runs.map(({ due }) => due)).size).toBe(runs.length);
    const text = (await callSchedule(dataDir, "list")).stdout;
    expect(text).toMatch(
      /often +\S+ \d\d:\d\d:\d\d UTC \(in \d+ s\) +(done|interrupted), \d+ s ago +\* \* \* \* \* \*(?: UTC)? +sync /,
    );
    expect((await callSchedule(dataDir, "list", "often")).stdout).toMatch(/ done +13 new/);
    expect(statSync(join(dataDir, "schedules.json")).mode & 0o077).toBe(0);

    expect((await callSchedule(dataDir, "remove", "often")).exitCode).toBe(0);
    expect((await list(dataDir)).map(({ name }) => name)).toEqual(["files"]);
  });

  it("schedules of one process have one scheduler, which ends its running commands when it is stopped", async () => {
    await using slow = await startSandbox(slowService);
    const dataDir = newDataDir();
    await add(dataDir, "slow", ...everySecond, "--", "sync", "--base-url", slow.url);
    const running = startScheduler(dataDir, "--json");
    await waitFor(async () => expect(slow.log().length).toBeGreaterThan(5));
    expect((await runsOf(dataDir, "slow")).at(-1)).toMatchObject({ outcome: "running", endedAt: null });
    expectRefusal(
      await startScheduler(dataDir).result,
      11,
      new RegExp(`are being run by process ${running.process.pid} `),
    );

    running.process.kill("SIGINT");
    const { exitCode, stdout } = await running.result;
    expect(exitCode).toBe(0);
    const [run] = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(run).toMatchObject({ name: "slow", outcome: "interrupted", exitCode: 130 });
    expect(run.counts.new).toBe(slow.log().length);
  });

  it("schedules of one process are shown as lost and started once more if their scheduler died", async () => {
    await using slow = await startSandbox({
      brands: 6,
      models: 20,
      sizes: 60,
      latencyMillis: 100,
      allowance: 10_000,
    });
    const dataDir = newDataDir();
    await add(dataDir, "slow", ...atNewYear, "--", "sync", "--base-url", slow.url);
    backdateSchedules(dataDir);
    const first = startScheduler(dataDir);
    await waitFor(async () => expect(slow.log().length).toBeGreaterThan(2));
    first.process.kill("SIGKILL");
    await first.result;
    const [lost] = await runsOf(dataDir, "slow");
    expect(lost?.outcome).toBe("lost");
    const second = startScheduler(dataDir);
    await waitFor(async () => {
      expect((await runsOf(dataDir, "slow")).map(({ due, outcome }) => ({ due, outcome }))).toEqual([
        { due: lost?.due, outcome: "lost" },
        { due: lost?.due, outcome: "running" },
      ]);
    });
    second.process.kill("SIGTERM");
    expect((await second.result).exitCode).toBe(0);
  });
});

it("schedules publish a dated export and a snapshot of the same run", async () => {
  const dataDir = newDataDir();
  const service = ["--base-url", sandbox.url];
  expect((await callArmoire(["sync", ...service, "--data-dir", dataDir])).exitCode).toBe(0);
  const [{ endedAt }] = JSON.parse(
    (await callArmoire(["runs", "--json", ...service, "--data-dir", dataDir])).stdout,
  );
  const date = endedAt.slice(0, 10);
  const exports = join(folder.path, "catalogue-{date}");
  const snapshots = join(folder.path, "public");
  const publish = ["snapshot", "publish", "--to", snapshots, "--license", "CC0-1.0"];
  await add(dataDir, "export", ...atNewYear, "--", "export", "--out", exports, ...service);
  await add(dataDir, "publish", ...atNewYear, "--", ...publish, ...service);
  backdateSchedules(dataDir);
  const running = startScheduler(dataDir);
  await waitFor(async () =>
    expect((await list(dataDir)).map(({ runs }) => runs.at(-1)?.outcome)).toEqual(["done", "done"]),
  );
  running.process.kill("SIGTERM");
  await running.result;
  const { contents, problems } = await verifyDataPackage(join(folder.path, `catalogue-${date}`));
  expect({ run: contents.state.run, problems }).toEqual({ run: 1, problems: [] });
  expect(readdirSync(snapshots).sort()).toEqual([`catalogue-000001-${date}.zip`, "state.json"]);
});

it("schedulers with one Redis start each due run once, one at a time per mirror", async () => {
  await using redis = await startRedis();
  const dataDir = newDataDir();
  const names = ["a", "b", "c"];
  for (const name of names) await add(dataDir, name, ...atNewYear, ...sync());
  backdateSchedules(dataDir);
  const schedulers = [
    startScheduler(dataDir, "--redis", redis.url),
    startScheduler(dataDir, "--redis", redis.url),
  ];
  const runs = async () => (await list(dataDir)).flatMap((schedule) => schedule.runs);
  await waitFor(async () =>
    expect((await runs()).map(({ outcome }) => outcome)).toEqual(names.map(() => "done")),
  );
  const [first, second] = schedulers;
  first?.process.kill("SIGTERM");
  expect((await first?.result)?.exitCode).toBe(0);
  // A scheduler does not wait for a stopped Redis either.
  await redis.kill();
  second?.process.kill("SIGTERM");
  const result = await Promise.all(schedulers.map((running) => running.result));
  expect(result.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  const begun = result.flatMap(({ stderr }) => stderr.match(/"event":"started","schedule":"\w+"/g) ?? []);
  expect(begun.sort()).toEqual(names.map((name) => `"event":"started","schedule":"${name}"`));
  const inTurn = (await runs()).sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  expect(inTurn).toHaveLength(names.length);
  inTurn.slice(1).forEach(({ startedAt }, index) => {
    expect(startedAt >= (inTurn[index]?.endedAt ?? "")).toBe(true);
  });
  expect(inTurn.every(({ attempts }) => attempts === 1)).toBe(true);
});

it("a scheduler that lost its Redis can be stopped with its running commands", async () => {
  await using redis = await startRedis();
  await using slow = await startSandbox(slowService);
  const dataDir = newDataDir();
  await add(dataDir, "slow", ...atNewYear, "--", "sync", "--base-url", slow.url);
  backdateSchedules(dataDir);
  const running = startScheduler(dataDir, "--redis", redis.url);
  await waitFor(async () => expect(slow.log().length).toBeGreaterThan(5));
  await redis.kill();
  running.process.kill("SIGTERM");
  expect((await running.result).exitCode).toBe(0);
  expect(await runsOf(dataDir, "slow")).toMatchObject([{ outcome: "interrupted", exitCode: 143 }]);
});

it("schedules run either with or without Redis, and a killed scheduler blocks no other", async () => {
  await using redis = await startRedis();
  const dataDir = newDataDir();
  await add(dataDir, "daily", ...atNewYear, ...sync());
  const start = async (...args: readonly string[]) => {
    const running = startScheduler(dataDir, ...args);
    for await (const { event } of logLines(running)) if (event === "ready") return running;
    throw new Error((await running.result).stderr);
  };
  const withRedis = ["--redis", redis.url];
  const shared = [await start(...withRedis), await start(...withRedis)];
  expectRefusal(
    await startScheduler(dataDir).result,
    11,
    /are being run by schedulers that share a Redis\.\nGive this one/,
  );
  for (const running of shared) {
    running.process.kill("SIGKILL");
    await running.result;
  }
  const alone = await start();
  expectRefusal(
    await startScheduler(dataDir, ...withRedis).result,
    11,
    new RegExp(`are being run by process ${alone.process.pid} `),
  );
  alone.process.kill("SIGKILL");
  await alone.result;
  const last = await start(...withRedis);
  last.process.kill("SIGTERM");
  expect((await last.result).exitCode).toBe(0);
});

describe("invalid schedules", () => {
  const cases: Readonly<Record<string, readonly [args: readonly string[], message: RegExp]>> = {
    "an unknown option": [["--", "sync", "--nonsense"], /invalid: unknown option '--nonsense'\n/],
    "an invalid value": [["--", "sync", "--depth", "bras"], /Allowed choices are brands, models, sizes/],
    "an option without the required one": [["--", "sync", "--media"], /--media needs an account/],
    "another command": [["--", "serve"], /This command cannot be scheduled/],
    "a command that needs a confirmation": [
      ["--", "backup", "restore", "x.zip"],
      /This command cannot be scheduled/,
    ],
    "a snapshot without a licence": [["--", "snapshot", "create", "--to", "."], /A snapshot needs a licence/],
    "a snapshot to load": [["--", "snapshot", "load", "x.zip"], /This command cannot be scheduled/],
    "a backup without an account": [["--", "backup", "--to", "."], /Missing --account NAME/],
    "an unknown account": [["--", "sync", "--account", "ada"], /There is no account called ada/],
    "a help text": [["--", "sync", "--help"], /is invalid: it only prints help/],
    "no command": [[], /missing required argument 'command'/],
    "a password in a URL": [
      ["--", "sync", "--redis", "redis://:hunter2@localhost/"],
      /seems to contain a secret/,
    ],
    "a line break": [["--", "export", "--out", "a\nExecStart=/bin/sh"], /contains a line break/],
    "a token": [["--", "sync", "--brand", "hunter2hunter2hunter2"], /seems to contain a secret/],
    "a bad time": [
      ["--cron", "61 * * * *", "--", "sync", "--base-url", "https://api.example.org/"],
      /is not a cron expression/,
    ],
    "a bad zone": [
      ["--tz", "Europe/Nowhere", "--", "sync", "--base-url", "https://api.example.org/"],
      /no time zone "Europe\/Nowhere"/,
    ],
    "a sync without a base URL": [["--", "sync"], /The sync to schedule has no base URL/],
    "a bad jitter": [["--jitter", "soon", "--", "sync"], /must be a duration/],
    "a jitter up to the next run": [
      ["--jitter", "1d", "--", "sync", "--base-url", "https://api.example.org/"],
      /not shorter than the time between two runs/,
    ],
  };
  it.concurrent.each(Object.entries(cases))(
    "an invalid schedule is refused and not stored: %s",
    async (_case, [args, message]) => {
      const dataDir = newDataDir();
      const result = await callArmoire([
        "schedule",
        "add",
        "x",
        "--data-dir",
        dataDir,
        "--cron",
        "0 6 * * *",
        ...args,
      ]);
      expectRefusal(result, 2, message);
      expect(result.stderr).not.toContain("hunter2");
      expect(existsSync(join(dataDir, "schedules.json"))).toBe(false);
    },
  );
});

it.each([
  [["run", "--account", "ada"], /--account cannot be given here/],
  [["add", "x", "--cron", "@daily", "--account", "ada", "--", "sync"], /--account cannot be given here/],
  [["add", "x", "--cron", "@daily", "--mirror", "m.sqlite", "--", "export"], /--mirror cannot be given/],
])(
  "schedule %j refuses the choice of a mirror, which belongs to the scheduled command",
  async (args, text) => {
    expectRefusal(await callSchedule(newDataDir(), ...args), 2, text);
  },
);

it("a systemd service may write where the command writes, from whatever folder it is printed", async () => {
  const [dataDir, cwd] = [newDataDir(), newDataDir()];
  mkdirSync(cwd);
  const places = ["--mirror", "mirrors/m.sqlite", "--metrics-file", "prom/armoire.prom"];
  const command = [
    "schedule",
    "add",
    "daily",
    "--cron",
    "@daily",
    "--data-dir",
    dataDir,
    ...sync(),
    ...places,
  ];
  expect(await callArmoire(command, { cwd })).toMatchObject({ exitCode: 0 });
  const { stdout } = await callSchedule(dataDir, "print", "systemd", "daily");
  expect(stdout).toContain(`ReadWritePaths=-${dataDir} -${cwd}/mirrors -${cwd}/prom\n`);
});

it("systemd units and crontab lines start this installation", async () => {
  const dataDir = newDataDir();
  await add(dataDir, "daily", "--cron", "0 6 * * *", "--tz", "Europe/Paris", ...sync());
  const files = JSON.parse(
    (await runArmoire(["schedule", "print", "systemd", "--json", "--data-dir", dataDir])).stdout,
  );
  expect(files.map(({ path }: { path: string }) => path)).toEqual([
    "/etc/systemd/system/armoire-daily.service",
    "/etc/systemd/system/armoire-daily.timer",
  ]);
  expect(files[0].content).toContain(`ExecStart=${process.execPath} `);
  expect(files[0].content).toContain(`ReadWritePaths=-${dataDir}\n`);
  expect((await callSchedule(dataDir, "print", "cron", "daily")).stdout).toContain(
    "CRON_TZ=Europe/Paris\n0 6 * * * cd ",
  );
  expectRefusal(await callSchedule(dataDir, "print", "cron", "weekly"), 2, /no schedule called weekly/);
});
