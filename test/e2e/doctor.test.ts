/** The doctor reports problems that end other commands, and continues. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startIndependentService } from "../support/independent-service/service.ts";
import { callArmoire, type RunOptions } from "../support/run-armoire.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

interface Diagnosis {
  readonly settings: readonly { readonly name: string; readonly value: string; readonly from: string }[];
  readonly checks: readonly {
    readonly isOk: boolean;
    readonly message: string;
    readonly hint: string | null;
  }[];
}

async function runDoctor(args: readonly string[], env: NonNullable<RunOptions["env"]> = {}) {
  const { stdout, stderr, exitCode } = await callArmoire(["doctor", "--json", ...args], { env });
  expect(stderr).toBe("");
  return { ...(JSON.parse(stdout) as Diagnosis), exitCode };
}

/** A data directory with copies of the fixture's mirror, in folders of these names. */
function dataDirWith(...names: readonly string[]): string {
  const dataDir = fixture.newPath();
  for (const name of names) {
    mkdirSync(join(dataDir, name), { recursive: true });
    cpSync(fixture.mirror, join(dataDir, name, "catalogue.sqlite"));
  }
  return dataDir;
}

it("doctor treats a missing mirror as no problem", async () => {
  const { checks, exitCode } = await runDoctor(["--data-dir", fixture.newPath()]);
  expect(exitCode).toBe(0);
  expect(checks).toContainEqual(
    expect.objectContaining({ isOk: true, message: "There is no mirror of the catalogue yet" }),
  );
});

it("doctor checks each mirror without --base-url or --mirror, and names these options", async () => {
  const dataDir = dataDirWith("a", "b");
  const { checks, exitCode } = await runDoctor(["--offline", "--data-dir", dataDir]);
  expect(exitCode).toBe(0);
  expect(checks.slice(-3)).toEqual([
    { isOk: true, message: expect.stringContaining(join(dataDir, "a")), hint: expect.any(String) },
    { isOk: true, message: expect.stringContaining(join(dataDir, "b")), hint: expect.any(String) },
    { isOk: true, message: "There are 2 mirrors", hint: expect.stringMatching(/--base-url URL or --mirror/) },
  ]);
});

it("doctor shows the mirror that commands use without --mirror", async () => {
  const nothing = { ARMOIRE_BASE_URL: "" };
  const dataDir = dataDirWith("a");
  const only = await runDoctor(["--offline", "--data-dir", dataDir], nothing);
  const file = join(dataDir, "a", "catalogue.sqlite");
  expect(only.settings).toContainEqual({ name: "mirror", value: file, from: "the only mirror" });
  const several = await runDoctor(["--offline", "--data-dir", dataDirWith("a", "b")], nothing);
  expect(several.settings).toContainEqual({ name: "mirror", value: null, from: "not set" });
  const given = await runDoctor(["--offline", "--base-url", fixture.sandbox.url, "--data-dir", dataDir]);
  const value = expect.stringMatching(/catalogue\.sqlite$/);
  expect(given.settings).toContainEqual({ name: "mirror", value, from: "base URL" });
});

it("doctor finds an unreadable mirror among two", async () => {
  const dataDir = dataDirWith("a", "b");
  writeFileSync(
    join(dataDir, "b", "catalogue.sqlite"),
    "no mirror, and long enough for a header\n".repeat(20),
  );
  const { checks, exitCode } = await runDoctor(["--data-dir", dataDir]);
  expect(exitCode).toBe(1);
  expect(checks.filter(({ isOk }) => !isOk)).toEqual([
    {
      isOk: false,
      message: expect.stringMatching(/This is not a SQLite file: .*b.catalogue/),
      hint: expect.any(String),
    },
  ]);
});

it.each([
  [{ ARMOIRE_APP_KEY: "canary" }, /ARMOIRE_APP_KEY is set, but ARMOIRE_APP_SECRET is not/],
  [{ ARMOIRE_APP_SECRET: "canary" }, /ARMOIRE_APP_SECRET is set, but ARMOIRE_APP_KEY is not/],
  [{ ARMOIRE_APP_KEY: "k", ARMOIRE_APP_SECRET: "canary\ncanary" }, /application secret contains/],
  [
    { ARMOIRE_APP_KEY: "k", ARMOIRE_APP_SECRET_FILE: "/nonexistent/secret" },
    /The file of ARMOIRE_APP_SECRET_FILE does not exist/,
  ],
])("doctor reports the problem of the credential %j, and checks the rest", async (env, message) => {
  const args = [
    ...["--data-dir", fixture.newPath()],
    ...["--mirror", fixture.mirror, "--base-url", fixture.sandbox.url],
  ];
  const diagnosis = await runDoctor(args, env);
  expect(diagnosis.exitCode).toBe(1);
  expect(diagnosis.checks.map(({ isOk }) => isOk)).toEqual([false, true, true, true, true]);
  expect(diagnosis.checks[0]?.message).toMatch(message);
  expect(diagnosis.checks[0]?.hint).toEqual(expect.stringMatching(/./));
  expect(diagnosis.settings).toContainEqual({ name: "credential", value: "unusable", from: "environment" });
  expect(JSON.stringify(diagnosis)).not.toContain("canary");
});

it("doctor reports an invalid data directory instead of a missing mirror", async () => {
  const { checks, exitCode } = await runDoctor(["--data-dir", fixture.textFile]);
  expect(exitCode).toBe(1);
  expect(checks.map(({ isOk }) => isOk)).toEqual([false, true, false, true]);
  expect(JSON.stringify(checks)).not.toContain("no mirror of the catalogue");
});

it.each([
  [
    "no ledger, and long enough for a header\n".repeat(20),
    false,
    /This is not a ledger of Armoire: .*ledger\.sqlite/,
  ],
  ["", true, /The ledger .* is readable/],
])("doctor checks a ledger with the content %j", async (content, isOk, message) => {
  const dataDir = dataDirWith("a");
  writeFileSync(join(dataDir, "ledger.sqlite"), content);
  const { checks, exitCode } = await runDoctor(["--data-dir", dataDir]);
  expect(exitCode).toBe(isOk ? 0 : 1);
  expect(checks).toContainEqual({
    ...{ isOk, message: expect.stringMatching(message) },
    hint: isOk ? null : expect.stringMatching(/Move this file away/),
  });
});

it("doctor reports that the service was not checked without a base URL", async () => {
  const nothing = { ARMOIRE_BASE_URL: "" };
  const { checks, exitCode } = await runDoctor(["--data-dir", fixture.newPath()], nothing);
  expect(exitCode).toBe(0);
  expect(checks).toContainEqual({
    ...{ isOk: true, message: "The service was not checked: no base URL is set" },
    hint: expect.stringContaining("ARMOIRE_BASE_URL"),
  });
  const offline = await runDoctor(["--offline", "--data-dir", fixture.newPath()], nothing);
  expect(offline.checks.map(({ message }) => message)).not.toContain(
    "The service was not checked: no base URL is set",
  );
});

it("doctor finds a dangling link in the path of the data directory", async () => {
  const link = fixture.newPath();
  symlinkSync(fixture.newPath(), link);
  const { checks, exitCode } = await runDoctor(["--offline", "--data-dir", join(link, "armoire")]);
  expect(exitCode).toBe(1);
  expect(checks).toContainEqual(
    expect.objectContaining({ isOk: false, message: expect.stringMatching(/is not writable: ENOENT/) }),
  );
});

it("doctor counts its request, and sends none when the allowance is spent", async () => {
  const allowance = { requests: 4, windowMs: 3_600_000, start: "first-request", per: "service" } as const;
  const service = await startIndependentService({ allowance });
  try {
    const args = ["--data-dir", fixture.newPath(), "--base-url", service.baseUrl];
    await callArmoire(["sync", "--budget", "3", ...args]);
    const checked = async () => (await runDoctor(args)).checks.at(-1)?.message;
    const start = `The service at ${service.baseUrl}`;
    expect([await checked(), service.requests.length]).toEqual([`${start} responds`, 4]);
    const spent = [`${start} was not checked: the allowance is spent`, 4];
    expect([await checked(), service.requests.length]).toEqual(spent);
  } finally {
    await service.close();
  }
});

it("doctor shows the allowance of the credential in use, and none of another one", async () => {
  const dataDir = fixture.newPath();
  const at = ["--base-url", fixture.sandbox.url, "--data-dir", dataDir];
  expect((await callArmoire(["sync", "--depth", "brands", ...at])).exitCode).toBe(0);
  const { key, secret } = fixture.sandbox.app;
  const allowanceWith = async (env: NonNullable<RunOptions["env"]>) => {
    const { checks } = await runDoctor(at, env);
    return checks.find(({ message }) => message.startsWith("The ledger"))?.hint;
  };
  expect(await allowanceWith({})).toMatch(/^Allowance: /);
  expect(await allowanceWith({ ARMOIRE_APP_KEY: key, ARMOIRE_APP_SECRET: secret })).toBeNull();
});
