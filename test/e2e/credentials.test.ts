import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { startAccountRig } from "../accounts/support/account-rig.ts";
import { memoryKeychain } from "../accounts/support/memory-keychain.ts";
import { callArmoire, runArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";

it("a credential is sent to the service and stored nowhere", async () => {
  await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 12, latencyMillis: 5 });
  await using folder = await temporaryFolder();
  const { key, secret } = sandbox.app;
  const env = { ARMOIRE_APP_KEY: key, ARMOIRE_APP_SECRET: secret, ARMOIRE_BASE_URL: sandbox.url };
  const settings = ["--data-dir", join(folder.path, "data")];
  const isLeaked = isAnySpellingOf(`${key}:${secret}`, secret);

  // The service echoes the credential in its refusal.
  sandbox.setFaults([
    { kind: "size", positions: [1], times: "always", fault: "status", status: 403 },
    {
      kind: "size",
      positions: [2],
      times: "always",
      fault: "redirect",
      target: `http://evil.example/${secret}`,
    },
  ]);
  const running = startArmoire(["sync", ...settings, "--verbose", "--concurrency", "1"], { env });
  await vi.waitFor(() => expect(sandbox.log().length).toBeGreaterThan(3), { interval: 5, timeout: 80_000 });
  const args = readFileSync(`/proc/${running.process.pid}/cmdline`, "utf8");
  const synced = await running.result;
  expect(synced.exitCode).toBe(3);
  expect(new Set(sandbox.log().map(({ credential }) => credential))).toEqual(new Set([`app:${key}`]));

  const outputs = await Promise.all([
    callArmoire(["status", ...settings, "--verbose"], { env }),
    callArmoire(["doctor", ...settings, "--json"], { env }),
    callArmoire(["export", ...settings, "--out", join(folder.path, "export")], { env }),
  ]);
  for (const text of [args, ...[synced, ...outputs].flatMap(({ stdout, stderr }) => [stdout, stderr])]) {
    expect(isLeaked(Buffer.from(text))).toBe(false);
  }
  const files = filesBelow(folder.path);
  expect(files.length).toBeGreaterThan(8);
  expect(files.filter((file) => isLeaked(readFileSync(file)))).toEqual([]);
});

it("a rejected credential ends the sync with exit code 4, and the mirror stays", async () => {
  await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 12 });
  await using folder = await temporaryFolder();
  const env = {
    ARMOIRE_APP_KEY: "revoked",
    ARMOIRE_APP_SECRET: "canary-0123456789",
    ARMOIRE_BASE_URL: sandbox.url,
  };
  const settings = ["--data-dir", folder.path];
  await callArmoire(["sync", ...settings, "--depth", "brands"], { env });
  sandbox.setFaults([{ kind: "models", times: "always", fault: "not-authenticated" }]);
  const { stdout, stderr, exitCode } = await runArmoire(["sync", ...settings], { env });
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 4 });
  expect(stderr).toMatch(/^armoire: .*: not authenticated \(answered 401\)\n.*mirrored data stays\.\n$/);
  const status = await callArmoire(["status", ...settings, "--json"], { env });
  expect(JSON.parse(status.stdout)).toMatchObject({
    kinds: expect.arrayContaining([expect.objectContaining({ kind: "brand", held: 3 })]),
    lastRun: { stopped: "error" },
  });
});

/** Secrets as plain text, and as written in headers, URLs and encodings. */
function isAnySpellingOf(...secrets: readonly string[]): (bytes: Buffer) => boolean {
  const encodings = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64").replace(/=+$/, ""),
    Buffer.from(secret).toString("hex"),
  ]);
  return (bytes) => encodings.some((encoding) => bytes.includes(encoding));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

it("a secret in an argument is refused, not repeated, and written nowhere", async () => {
  await using sandbox = await startSandbox({ brands: 1, models: 1, sizes: 1, users: 1 });
  await using folder = await temporaryFolder();
  const token = sandbox.users[0]?.token ?? "";
  const { secret } = sandbox.app;
  const path = (name: string) => join(folder.path, name);
  const [passphrase, password] = ["gown fling sandy rug", "rouge-et-noir"];
  const env = {
    ...{ ARMOIRE_APP_KEY: sandbox.app.key, ARMOIRE_APP_SECRET: secret, ARMOIRE_BASE_URL: sandbox.url },
    ...{ ARMOIRE_BACKUP_PASSPHRASE: passphrase, ARMOIRE_REDIS_PASSWORD: password },
    ARMOIRE_DATA_DIR: path("data"),
  };
  const armoire = (...args: readonly string[]) => callArmoire(args, { env });
  const add = ["account", "add", "ada", "--base-url", sandbox.url, "--data-dir", path("data")];
  expect(await callArmoire(add, { env: { ...env, ARMOIRE_TOKEN: token } })).toMatchObject({ exitCode: 0 });
  expect(await armoire("sync")).toMatchObject({ exitCode: 0 });
  const before = readdirSync(folder.path, { recursive: true }).sort();
  const cases = [
    ...[token, secret, `x ${token}`, encodeURIComponent(`${token}/`)].flatMap((text) => [
      ["export", "--out", path("out"), "--license", text],
      ["export", "--out", path("out"), `--citation=${text}`],
      ["export", "--out", path(`out-${text}`)],
      ["show", "brand", text],
      ["sync", "--brand", text],
      ["search", text],
      ["snapshot", "load", text],
    ]),
    ["export", "--out", path("out"), "--citation", "by canary9a8b7c6d5e4f3a2b"],
    ["snapshot", "create", "--to", path("out"), "--license", "canary-9a8b7c6d5e4f3a2b"],
    ["status", "--config", token],
    ["status", "--data-dir", path(token)],
    ...[passphrase, password].flatMap((text) => [
      ["export", "--out", path("out"), "--citation", `by ${text}`],
      ["schedule", "add", "daily", "--cron", "@daily", "--", "export", "--out", path(text)],
    ]),
  ];
  for (const args of cases) {
    const { stdout, stderr, exitCode } = await armoire(...args);
    const isRepeated = [token, secret, "9a8b7c6d", passphrase, password].some((text) =>
      stderr.includes(text),
    );
    expect({ args, exitCode, stdout, isRepeated }).toEqual({
      args,
      exitCode: 2,
      stdout: "",
      isRepeated: false,
    });
    expect(stderr).toMatch(/^armoire: .*so it is not shown here\.\n.*get a new one\.\n$/);
  }
  // Also if commands would refuse the file of the token, or the account.
  chmodSync(path("data/accounts/ada/token"), 0o644);
  writeFileSync(path("data/accounts/ada/account.json"), "{");
  expect(await armoire("search", token)).toMatchObject({
    exitCode: 2,
    stderr: expect.not.stringContaining(token),
  });
  expect(readdirSync(folder.path, { recursive: true }).sort()).toEqual(before);
  const citation = "A. Author: Bras, https://doi.example/10.5281/f00f00f00f00f00f00f00f";
  const license = "https://licences.example/0123456789abcdef0123";
  const published = await armoire(
    "export",
    "--out",
    path("out"),
    "--license",
    license,
    "--citation",
    citation,
  );
  expect(published.exitCode).toBe(0);
});

it.each([0o600, 0o644])(
  "a secret of a file is refused as an argument, whatever its mode (%o)",
  async (mode) => {
    await using folder = await temporaryFolder();
    const [file, principals] = [join(folder.path, "secret"), join(folder.path, "principals")];
    writeFileSync(file, "tok-abcdef-99887766\n", { mode });
    writeFileSync(principals, "anna tok-of-anna-55443322\n", { mode });
    for (const [text, args, env] of [
      ["99887766", ["search", "tok-abcdef-99887766"], { ARMOIRE_TOKEN_FILE: file }],
      ["99887766", ["search", "tok-abcdef-99887766"], { ARMOIRE_APP_SECRET_FILE: file }],
      [
        "55443322",
        [
          "worker",
          "--principals",
          principals,
          "--dashboard-name",
          "tok-of-anna-55443322",
          "--redis",
          "/none",
        ],
        {},
      ],
    ] as const) {
      const settings = { ...env, ARMOIRE_DATA_DIR: folder.path };
      const { stderr, exitCode } = await callArmoire(args, { env: settings });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringContaining("not shown here"),
      });
      expect(stderr).not.toContain(text);
    }
  },
);

it("a password of Redis is refused as an argument, also as its address spells it", async () => {
  await using folder = await temporaryFolder();
  const env = {
    ARMOIRE_REDIS_URL: "redis://:longp%61ssword@127.0.0.1:6379",
    ARMOIRE_DATA_DIR: folder.path,
  };
  for (const text of ["longpassword", "longp%61ssword"]) {
    const { stderr, exitCode } = await callArmoire(["search", text], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.not.stringContaining("longp") });
  }
});

it("a secret that the parser would quote is refused, and not repeated", async () => {
  const secret = "canary-secret/of+the=app~1";
  for (const name of ["ARMOIRE_TOKEN", "ARMOIRE_APP_SECRET"])
    for (const args of [
      [secret],
      ["account", secret],
      ["sync", secret],
      ["runs", "--all", secret],
      ["sandbox", "--seed", secret],
      ["sandbox", "--preset", secret],
      [`-${secret}`],
      ["sync", `--${secret}`],
      ["export", secret],
      ["help", secret],
      ["help", "query", secret],
      [secret, "--help"],
      ["search", secret, "--help"],
      ["--version", secret],
      ["sync", `--brand=${secret}`, "--help"],
    ]) {
      const { stderr, ...result } = await callArmoire(args, { env: { [name]: secret } });
      expect({ args, ...result }).toEqual({ args, exitCode: 2, stdout: "" });
      expect(stderr).toMatch(/^armoire: An argument contains a secret, so it is not shown here\.\n.*\n$/);
    }
});

it("the token of an account is refused beside the path of its mirror", async () => {
  await using rig = await startAccountRig();
  const token = "canary-5f4e3d2c1b0a9f8e7d6c";
  const account = await rig.account("ada", token);
  const { exitCode, stderr } = await callArmoire(["--mirror", account.mirrorFile, token]);
  expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^armoire: An argument contains a secret/)]);
});

it("a token in the keychain is refused in an argument, and no other argument needs the keychain", async () => {
  await using rig = await startAccountRig();
  const token = "canary-9a8b7c6d5e4f3a2b1c0d";
  const keychain = memoryKeychain();
  // The second one replaces the first.
  for (const text of ["canary-0a1b2c3d4e5f60718293", token]) await rig.keep("ada", text, keychain);
  expect((await rig.keep("eve", "canary-11112222333344445555", keychain)).account.tokenIn).toBe("keychain");
  const env = { ARMOIRE_DATA_DIR: rig.dataDir };
  const armoire = (...args: readonly string[]) => callArmoire(args, { env });
  for (const text of [token, `x/${token}`, encodeURIComponent(`${token}/`), btoa(`ada:${token}`)])
    for (const args of [
      ["search", text],
      ["export", "--out", join(rig.dataDir, "out"), `--citation=${text}`],
      ["status", "--data-dir", text],
      ["account", "add", "ada", text],
      ["sync", `--${text}`],
    ]) {
      const { stderr, ...result } = await armoire(...args);
      expect({ args, ...result }).toEqual({ args, exitCode: 2, stdout: "" });
      expect(stderr).toMatch(/^armoire: An argument contains a secret, so it is not shown here\.\n.*\n$/);
    }
  for (const text of [token.slice("canary-".length), "x"]) {
    const { stderr, exitCode } = await armoire("account", "remove", "ada", "--config", text);
    expect([exitCode, stderr]).toEqual([4, expect.stringMatching(/^(?!.*(?:secret|keychain)).*--config/s)]);
  }
  const listed = await armoire("account", "list", "--json");
  expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"tokenIn":"keychain"') });
  expect(listed.stdout).not.toContain("tokenMarks");
});
