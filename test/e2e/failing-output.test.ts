/** Standard output that fails: a full device, a full disk that accepts a part, and a closed pipe. */
import { execFile } from "node:child_process";
import { appendFileSync, readFileSync, statSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { armoireProgram } from "../support/armoire-program.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

interface Ended {
  readonly stderr: string;
  readonly exitCode: number | string;
}

/** Runs the program in a shell command, in which `"$@"` is the program with its arguments. */
function runInShell(command: string, args: readonly string[]): Promise<Ended> {
  const words = ["-c", command, "sh", process.execPath, armoireProgram, ...args, "--mirror", fixture.mirror];
  const env = { PATH: process.env.PATH, HOME: fixture.folder };
  return new Promise((resolve) => {
    execFile("sh", words, { env }, (error, _stdout, stderr) =>
      resolve({ stderr, exitCode: error?.code ?? 0 }),
    );
  });
}

const commands: readonly (readonly string[])[] = [
  ["query", "select * from brand", "--format", "table"],
  ["query", "select * from brand", "--format", "csv"],
  ["search", "a", "--json"],
  ["status"],
  ["sync", "--help"],
];

it.each(commands)("output to a full device ends in one line and exit 1: %s %s %s %s", async (...args) => {
  expect(await runInShell('exec "$@" > /dev/full', args)).toEqual({
    stderr: "armoire: Standard output cannot be written (ENOSPC), so it is incomplete.\n",
    exitCode: 1,
  });
});

it("output that a disk accepts only in part is reported, even if nothing follows the accepted part", async () => {
  const file = fixture.newPath();
  // In units of 512 or 1024 bytes, as the shell has it.
  const command = `ulimit -f 1; exec "$@" > '${file}'`;
  expect(await runInShell(command, ["query", "--list", "--json"])).toEqual({
    stderr: "armoire: Standard output cannot be written (EFBIG), so it is incomplete.\n",
    exitCode: 1,
  });
  expect([512, 1024]).toContain(statSync(file).size);
});

/** The exit code of the program, as the last line of stderr, while its output has no reader. */
function runWithoutReader(args: readonly string[]): Promise<Ended> {
  const statusFile = fixture.newPath();
  return runInShell(`{ "$@"; echo $? > '${statusFile}'; } | true; cat '${statusFile}' >&2`, args);
}

it("a reader that closes the pipe early is no error", async () => {
  const many = "with recursive n(x) as (values (1) union all select x + 1 from n) select x from n";
  const args = ["query", many, "--max-rows", "100000", "--format", "csv"];
  expect(await runWithoutReader(args)).toEqual({ stderr: "0\n", exitCode: 0 });
});

it("a reader that closes the pipe early hides no exit code", async () => {
  const folder = fixture.newPath();
  const options = ["--quiet", "--format", "csv"];
  expect(await runInShell('exec "$@"', ["export", "--out", folder, ...options])).toMatchObject({
    exitCode: 0,
  });
  appendFileSync(`${folder}/brand.csv`, "x");
  expect(await runWithoutReader(["export", "verify", folder])).toMatchObject({ stderr: "15\n" });
  const doctor = await runWithoutReader(["doctor", "--base-url", "http://127.0.0.1:1/"]);
  expect(doctor).toMatchObject({ stderr: "1\n" });
});

it("a sync whose reader has closed the pipe still passes its changes on", async () => {
  await using sandbox = await startSandbox({ brands: 1, models: 1, sizes: 1 });
  const copy = `${fixture.newPath()}.ndjson`;
  const mirror = `${fixture.newPath()}.sqlite`;
  const changes = ["--on-change", `tee ${copy}`, "--data-dir", fixture.newPath()];
  const statusFile = fixture.newPath();
  await runInShell(`{ "$@" --mirror '${mirror}'; echo $? > '${statusFile}'; } | true`, [
    ...["sync", "--base-url", sandbox.url, ...changes],
  ]);
  expect(readFileSync(statusFile, "utf8")).toBe("0\n");
  expect(readFileSync(copy, "utf8")).toContain('"added"');
});
