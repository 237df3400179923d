/** `armoire changes` and `sync --on-change`: their output for a sandbox that has changed, and refused input. */
import { chmodSync, existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { listCatalogueMirrors } from "../../src/mirror/file/paths.ts";
import { readMirror } from "../../src/mirror/reader.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { callArmoire, runArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";
import { output } from "./support/output.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let env: Record<string, string>;
const at = (name: string) => join(folder.path, name);
const call = (...args: readonly string[]) => callArmoire(args, { env });
const sync = (...args: readonly string[]) =>
  callArmoire(["sync", "--approve", ...args], { env, cwd: folder.path });
/** A command that prints nothing: in this process, its output would be that of the tests. */
const keepIn = (file: string) => `sh -c 'cat > ${file}'`;
const change = () => sandbox.advance({ changes: 6, additions: 1, removals: 1, moves: 0 });

beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({ brands: 4, models: 10, sizes: 20, seed: 5 });
  env = { ARMOIRE_DATA_DIR: at("data"), ARMOIRE_BASE_URL: sandbox.url };
  await sync();
  change();
  await sync();
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

describe("changes", () => {
  it("changes are a report for people by default, newest run first", async () => {
    const { stdout, stderr, exitCode } = await call("changes");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toMatch(
      /^# Changes in the catalogue of 127\.0\.0\.1:\d+\n\n## Run 2, [\d-]+ [\d:]+ UTC\n\n- /,
    );
    expect(stdout).toMatch(/\n## Run 1, .*\n\n- 4 brands added, 10 models added, \d+ sizes added\n$/);
  });

  it("--since and --limit leave out older changes, and --json is a JSON feed", async () => {
    const lines = (text: string) =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    const since = lines((await call("changes", "--since", "1", "--format", "ndjson")).stdout);
    expect(new Set(since.map(({ run }) => run))).toEqual(new Set([2]));
    const limited = lines((await call("changes", "--limit", "2", "--format", "ndjson")).stdout);
    expect(limited).toEqual(since.slice(0, 2));
    const { items } = JSON.parse((await call("changes", "--json", "--limit", "3")).stdout);
    expect(items).toHaveLength(3);
  });

  it("the ending of --out says the format, and an unchanged file is not written again", async () => {
    const file = at("changes.atom");
    expect(await call("changes", "--out", file)).toEqual({
      stdout: `Written to ${file}\n`,
      stderr: "",
      exitCode: 0,
    });
    const feed = readFileSync(file, "utf8");
    expect(feed).toMatch(/^<\?xml version="1.0" encoding="utf-8"\?>\n<feed /);
    expect(statSync(file).mode & 0o777).toBe(0o666 & ~process.umask());
    utimesSync(file, 1, 1);
    expect(await call("changes", "--out", file)).toMatchObject({
      stdout: `Unchanged: ${file} has these changes already\n`,
      exitCode: 0,
    });
    expect(statSync(file).mtimeMs).toBe(1000);
    for (const [name, start] of [
      ["c.md", "# "],
      ["c.json", "{"],
      ["c.ndjson", "{"],
      ["c.xml", "<?"],
    ] as const) {
      expect(await call("changes", "--out", at(name), "--quiet")).toEqual({
        stdout: "",
        stderr: "",
        exitCode: 0,
      });
      expect(readFileSync(at(name), "utf8").slice(0, start.length)).toBe(start);
    }
  });

  it.each([
    ["a name without a format", ["--out", "changes"], 2, /does not say the format/],
    ["two formats", ["--json", "--format", "atom"], 2, /cannot be given together/],
    [
      "a feed's address without a scheme",
      ["--url", "example.org/feed"],
      2,
      /must be an http or https address/,
    ],
    ["an unknown brand", ["--brand", "Nobody"], 2, /There is no brand called "Nobody"/],
    ["an unknown point", ["--since", "sometime"], 2, /is not a point in time/],
    ["a limit of nothing", ["--limit", "0"], 2, /at least 1/],
  ])("%s is refused", async (_name, args, exitCode, message) => {
    expectRefusal(await call("changes", ...args), exitCode, message);
  });

  it("a mirror is never replaced", async () => {
    const mirror = at("copy.md");
    writeFileSync(mirror, readFileSync(listCatalogueMirrors(at("data"))[0] ?? ""));
    const before = readFileSync(mirror);
    expectRefusal(await call("changes", "--out", mirror), 2, /is a database of a program/);
    expect(readFileSync(mirror)).toEqual(before);
    const log = `${listCatalogueMirrors(at("data"))[0]}-wal`;
    const format = ["--format", "ndjson"];
    expectRefusal(await call("changes", "--out", log, ...format), 2, /is the place of one of Armoire's own/);
  });
});

describe("--on-change", () => {
  it("a command reads the changes of the run, without credentials in its environment", async () => {
    const { key, secret } = sandbox.app;
    Object.assign(env, { ARMOIRE_APP_KEY: key, ARMOIRE_APP_SECRET: secret, MINE: "kept" });
    change();
    const script = at("on change.mjs");
    writeFileSync(
      script,
      `import { readFileSync, writeFileSync } from "node:fs";
       const changes = readFileSync(0, "utf8");
       writeFileSync("seen.json", JSON.stringify({ changes, args: process.argv.slice(2), env: process.env }));
       console.log("done");`,
    );
    const command = `'${process.execPath}' "${script}" one 'two words'`;
    // As a process, since the command prints to its error output.
    const result = await runArmoire(["sync", "--on-change", command, "--json"], { env, cwd: folder.path });
    expect({ exitCode: result.exitCode, stderr: result.stderr }).toEqual({ exitCode: 0, stderr: "done\n" });
    const { run, onChange } = JSON.parse(result.stdout);
    expect(onChange).toEqual({
      program: process.execPath,
      after: run - 1,
      to: run,
      exitCode: 0,
      signal: null,
      startError: null,
    });
    const seen = JSON.parse(readFileSync(at("seen.json"), "utf8"));
    expect(seen.args).toEqual(["one", "two words"]);
    expect(seen.changes).toBe(
      await output("changes", "--format", "ndjson", "--since", String(run - 1), ...here()),
    );
    expect(seen.changes).toMatch(/^\{"run":3,/);
    expect(seen.env.MINE).toBe("kept");
    expect(Object.keys(seen.env).filter((name) => name.startsWith("ARMOIRE_"))).toEqual([]);
  });

  it("a run that changed nothing runs no command", async () => {
    const result = await sync("--on-change", "touch started", "--json");
    expect({ ...result, onChange: JSON.parse(result.stdout).onChange }).toMatchObject({
      exitCode: 0,
      onChange: null,
    });
    expect(existsSync(at("started"))).toBe(false);
  });

  it("a command that fails or does not exist is reported with exit code 1, and one may leave its input", async () => {
    const failing = at("failing.sh");
    writeFileSync(failing, "#!/bin/sh\nexit 7\n");
    chmodSync(failing, 0o700);
    for (const [command, exitCode, message] of [
      [failing, 1, /^armoire: The command for changes ended with exit code 7\.\n/m],
      ["./nothing-here", 1, /^armoire: The command for changes could not be started: .*ENOENT\.\n/m],
      ["true", 0, /^$/],
    ] as const) {
      change();
      const result = await sync("--quiet", "--on-change", command, "--on-change-format", "markdown");
      expect({ exitCode: result.exitCode, stdout: result.stdout }).toEqual({ exitCode, stdout: "" });
      expect(result.stderr).toMatch(message);
    }
  });

  it("changes of a failed command are passed on with those of later runs, until a call succeeds", async () => {
    const runsIn = (file: string) =>
      new Set(
        readFileSync(at(file), "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line).run),
      );
    const reportOf = async (...args: readonly string[]) => {
      change();
      const { stdout, exitCode } = await sync("--json", ...args);
      return { exitCode, ...JSON.parse(stdout) };
    };
    // Whatever an earlier call left is passed on here.
    await reportOf("--on-change", "true");
    const failed = await reportOf("--on-change", "false");
    const { run } = failed;
    expect(failed).toMatchObject({
      exitCode: 1,
      onChange: { program: "false", after: run - 1, to: run, exitCode: 1 },
    });
    expect(await reportOf("--on-change", "./nothing-here secret")).toMatchObject({
      exitCode: 1,
      onChange: {
        program: "./nothing-here",
        after: run - 1,
        to: run + 1,
        exitCode: null,
        startError: expect.any(String),
      },
    });
    // A sync without the option leaves its changes to the next call.
    expect(await reportOf()).not.toHaveProperty("onChange");
    expect(await reportOf("--on-change", keepIn("third.ndjson"))).toMatchObject({ exitCode: 0 });
    expect(runsIn("third.ndjson")).toEqual(new Set([run, run + 1, run + 2, run + 3]));
    expect(await reportOf("--on-change", keepIn("fourth.ndjson"))).toMatchObject({ exitCode: 0 });
    expect(runsIn("fourth.ndjson")).toEqual(new Set([run + 4]));
  });

  it("a process that the command leaves in the background does not keep the sync waiting", async () => {
    // More changes than a pipe holds, so that a part of the input is never read.
    await using other = await startSandbox({ brands: 2, models: 20, sizes: 600, allowance: 10_000 });
    const settings = { ARMOIRE_DATA_DIR: at("background"), ARMOIRE_BASE_URL: other.url };
    const command = `sh -c 'exec 3<&0; sleep 600 & echo $! > process'`;
    const args = ["sync", "--quiet", "--on-change", command];
    const result = await callArmoire(args, { env: settings, cwd: folder.path });
    process.kill(Number(readFileSync(at("process"), "utf8")));
    expect(result).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s ends a running command and the sync, which exits with %d", async (signal, exitCode) => {
    change();
    const command = `'${process.execPath}' -e "require('fs').writeFileSync('running', ''); setInterval(() => {}, 9)"`;
    const { process: running, result } = startArmoire(["sync", "--on-change", command], {
      env,
      cwd: folder.path,
    });
    await vi.waitFor(() => expect(existsSync(at("running"))).toBe(true), { timeout: 80_000, interval: 20 });
    rmSync(at("running"));
    running.kill(signal);
    expect(await result).toMatchObject({
      exitCode,
      stderr: expect.stringContaining("Interrupted; the mirror is saved"),
    });
  });

  it("after a killed sync, the next one also passes the changes of that run", async () => {
    change();
    await using slow = await startSandbox({ brands: 10, models: 40, sizes: 40, seed: 6, latencyMillis: 20 });
    const settings = { ARMOIRE_DATA_DIR: at("slow"), ARMOIRE_BASE_URL: slow.url };
    const { process: first, result } = startArmoire(["sync", "--json"], { env: settings });
    await vi.waitFor(() => expect(countModels(at("slow"))).toBeGreaterThan(5), {
      timeout: 80_000,
      interval: 20,
    });
    first.kill("SIGKILL");
    await result;
    const second = await callArmoire(["sync", "--on-change", keepIn("all.ndjson")], {
      env: settings,
      cwd: folder.path,
    });
    expect(second.exitCode).toBe(0);
    const runs = readFileSync(at("all.ndjson"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).run);
    expect(new Set(runs)).toEqual(new Set([2, 1]));
  });

  it("a sync that fails after its run closed passes its changes on, too", async () => {
    await using other = await startSandbox({ brands: 3, models: 6, sizes: 6, seed: 7 });
    const settings = { ARMOIRE_DATA_DIR: at("failing"), ARMOIRE_BASE_URL: other.url };
    const run = (...args: readonly string[]) =>
      callArmoire(["sync", ...args], { env: settings, cwd: folder.path });
    // After some resources, the service refuses the credential for good.
    other.setFaults([{ kind: "model", fault: "not-authenticated", times: "always" }]);
    const { exitCode, stderr } = await run("--on-change", keepIn("failed.ndjson"), "--quiet");
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/not authenticated/i);
    expect(readFileSync(at("failed.ndjson"), "utf8")).toMatch(/^\{"run":1,.*"change":"added"/);
  });

  it.each([
    [" ", /--on-change needs a command/],
    ['""', /--on-change needs a command/],
    ["mail -s 'x", /a quote without its other half/],
  ])("the command %j is refused before any request", async (command, message) => {
    const before = sandbox.log().length;
    expectRefusal(await sync("--on-change", command), 2, message);
    expect(sandbox.log()).toHaveLength(before);
  });
});

/** Zero before the mirror exists. */
function countModels(dataDir: string): number {
  const [file] = existsSync(dataDir) ? listCatalogueMirrors(dataDir) : [];
  if (file === undefined || !existsSync(file)) return 0;
  return readMirror(
    file,
    ({ db }) => db.prepare<[], number>("select count(*) from model").pluck().get() ?? 0,
  );
}

const here = () => ["--data-dir", at("data"), "--base-url", sandbox.url];
