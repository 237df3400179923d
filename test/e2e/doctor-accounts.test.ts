/** The doctor on accounts: the places of their files, and whether the service accepts their tokens. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let dataDir: string;
let tokenFile: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder.path, "data");
  tokenFile = join(dataDir, "accounts/ada/token");
  sandbox = await startSandbox({ users: 2, brands: 2, models: 4, sizes: 8, allowance: 200 });
  const urlAndDir = ["--base-url", sandbox.url, "--data-dir", dataDir];
  for (const [n, name] of ["ada", "bea"].entries())
    await callArmoire(["account", "add", name, ...urlAndDir], { env: { ARMOIRE_TOKEN: tokenOf(n) } });
  await callArmoire(["sync", "--account", "ada", "--budget", "3", "--data-dir", dataDir]);
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});
beforeEach(() => {
  writeFileSync(tokenFile, tokenOf(0), { mode: 0o600 });
  sandbox.clearLog();
});

const tokenOf = (n: number): string => sandbox.users[n]?.token ?? "";

/** The last line of the output, and the exit code. */
async function runDoctor(...args: readonly string[]) {
  const { stdout, exitCode } = await callArmoire(["doctor", ...args, "--data-dir", dataDir, "--json"]);
  const { checks } = JSON.parse(stdout) as {
    checks: { isOk: boolean; message: string; hint: string | null }[];
  };
  return { checks, last: checks.at(-1), exitCode };
}

it("doctor reports an accepted token and its permissions with two requests of the account's ledger", async () => {
  const { last, exitCode } = await runDoctor("--account", "bea");
  expect(exitCode).toBe(0);
  expect(last).toEqual({
    isOk: true,
    message: `The service at ${sandbox.url} accepts the token of the account bea, which grants profile`,
    hint: "Not granted: email. Not known until a sync: bras, measurements.",
  });
  expect(sandbox.log().map(({ credential }) => credential)).toEqual(["user:béatrice", "user:béatrice"]);
});

it("doctor reports a rejected token with a hint", async () => {
  sandbox.editUser("anna", { isRevoked: true });
  const { last, exitCode } = await runDoctor("--account", "ada");
  sandbox.editUser("anna", { isRevoked: false });
  expect(exitCode).toBe(1);
  expect(last).toMatchObject({
    isOk: false,
    message: expect.stringContaining("does not accept this token"),
    hint: expect.stringContaining("`armoire account add ada`"),
  });
});

it("doctor reports a token of another user", async () => {
  writeFileSync(tokenFile, tokenOf(1), { mode: 0o600 });
  const { last, exitCode } = await runDoctor("--account", "ada");
  expect(exitCode).toBe(1);
  expect(last).toMatchObject({
    isOk: false,
    message:
      "The token of the account ada belongs to béatrice (user 1001), and the account to anna (user 1000)",
  });
});

it("doctor treats a spent allowance as no problem, and sends nothing", async () => {
  await using strict = await startSandbox({ users: 1, brands: 2, models: 4, sizes: 8, allowance: 2 });
  const env = { ARMOIRE_TOKEN: strict.users[0]?.token ?? "" };
  await callArmoire(["account", "add", "eve", "--base-url", strict.url, "--data-dir", dataDir], { env });
  await callArmoire(["sync", "--account", "eve", "--data-dir", dataDir]);
  strict.clearLog();
  const { last, exitCode } = await runDoctor("--account", "eve");
  expect({ exitCode, sent: strict.log() }).toEqual({ exitCode: 0, sent: [] });
  expect(last).toMatchObject({ isOk: true, message: expect.stringContaining("the allowance is spent") });
  await callArmoire(["account", "remove", "eve", "--purge", "--yes", "--data-dir", dataDir]);
});

it("doctor sends nothing with --offline", async () => {
  const { last, exitCode } = await runDoctor("--account", "ada", "--offline");
  expect({ exitCode, sent: sandbox.log() }).toEqual({ exitCode: 0, sent: [] });
  expect(last?.message).toContain("ledger");
});

it("doctor names the command for the first sync of an account", async () => {
  expect((await runDoctor("--account", "bea", "--offline")).checks).toContainEqual({
    ...{ isOk: true, message: "There is no mirror of the account bea yet" },
    hint: "`armoire sync --account bea` creates it.",
  });
});

it("doctor without --account lists each account's mirror and token place, offline", async () => {
  const { checks, exitCode } = await runDoctor();
  expect({ exitCode, sent: sandbox.log() }).toEqual({ exitCode: 0, sent: [] });
  const at = (name: string) => join(dataDir, "accounts", name);
  expect(checks.slice(-3)).toEqual([
    {
      isOk: true,
      message: `The account ada: its mirror ${join(at("ada"), "mirror.sqlite")} is readable; its token is in ${tokenFile}`,
      hint: null,
    },
    {
      isOk: true,
      message: `The account bea: it has no mirror yet; its token is in ${join(at("bea"), "token")}`,
      hint: null,
    },
    { isOk: true, message: "There are 2 accounts", hint: expect.stringContaining("--account NAME") },
  ]);
});

it("doctor finds a missing token and an unreadable mirror", async () => {
  rmSync(tokenFile);
  expect((await runDoctor()).checks.filter(({ isOk }) => !isOk)).toEqual([
    {
      isOk: false,
      message: `The token file of the account ada is missing: ${tokenFile}`,
      hint: "Store the token again with `armoire account add ada`.",
    },
  ]);
  const file = join(dataDir, "accounts/ada/mirror.sqlite");
  const original = readFileSync(file);
  writeFileSync(file, "no mirror, and long enough for a header\n".repeat(20));
  const { checks, exitCode } = await runDoctor();
  writeFileSync(file, original);
  expect(exitCode).toBe(1);
  expect(checks.filter(({ isOk }) => !isOk).map(({ message }) => message)).toEqual([
    expect.stringContaining(file),
  ]);
});
