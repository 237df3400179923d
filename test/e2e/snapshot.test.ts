/** Snapshots at the command line. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";
import { serveFolder } from "../support/serve-folder.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
const path = (name: string) => join(folder.path, name);

beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({ users: 1, brands: 2, models: 4, sizes: 8, allowance: 5000 });
  await armoire(0, ["sync", "--quiet"]);
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

/** Runs a command that must end with this exit code. */
async function armoire(exitCode: number, args: readonly string[]) {
  const env = { ARMOIRE_BASE_URL: sandbox.url };
  const result = await callArmoire([...args, "--data-dir", path("data")], { env });
  expect({ args, ...result }).toMatchObject({ args, exitCode });
  return result;
}

it("a snapshot is created, verified and shown", async () => {
  const to = path("catalogue.zip");
  const { stdout } = await armoire(0, ["snapshot", "create", "--to", to, "--license", "CC0-1.0"]);
  expect(stdout).toContain(": 2 brands, 4 models, 8 sizes.");
  const [, rootHash = ""] = /^Root hash ([0-9a-f]{64})$/m.exec(stdout) ?? [];
  const verified = await armoire(0, ["snapshot", "verify", to, "--root-hash", rootHash]);
  expect(verified.stdout).toContain("Not damaged and not forged: the root hash matches.");
  const shown = await armoire(0, ["snapshot", "show", to]);
  expect(shown.stdout).toContain(`Service    ${sandbox.url}`);
  expect(shown.stdout).toMatch(/^Licence {4}CC0-1.0$/m);
  expect(shown.stdout).toMatch(/^Signature {2}none: only the root hash/m);
  expect(shown.stdout).toMatch(/^size +8 +0 +0 +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d$/m);
  const { manifest, problems } = JSON.parse((await armoire(0, ["snapshot", "show", to, "--json"])).stdout);
  expect({ problems, contents: manifest.contents, seenBy: manifest.seenBy }).toEqual({
    ...{ problems: [], contents: "snapshot", seenBy: "none" },
  });
  await armoire(15, ["snapshot", "verify", to, "--root-hash", "0".repeat(64)]);
  const damaged = path("damaged.zip");
  writeFileSync(damaged, readFileSync(to).fill(0, 2000, 2010));
  for (const command of ["verify", "show"])
    expect((await armoire(15, ["snapshot", command, damaged])).stdout).toContain("Damaged or forged");
});

it("a snapshot in a folder is named by its day, and the same one is not written again", async () => {
  const create = ["snapshot", "create", "--to", folder.path, "--license", "CC0-1.0"];
  await armoire(0, create);
  expect((await armoire(0, create)).stdout).toContain("The same exists already");
  const named = readdirSync(folder.path).filter((name) => /^catalogue-\d{4}-\d\d-\d\d\.zip$/.test(name));
  expect(named).toHaveLength(1);
});

it("missing folders above an output are made, and none is left by a command that fails", async () => {
  const license = ["--license", "CC0-1.0"];
  for (const [name, ...args] of [
    ["package", "export", "--table", "brand", "--out"],
    ["brand.csv", "export", "--table", "brand", "--out"],
    ["brand.parquet", "export", "--table", "brand", "--out"],
    ["all.sqlite", "export", "--out"],
    ["answer.csv", "query", "select 1 as n", "--out"],
    ["answer.sqlite", "query", "select 1 as n", "--out"],
    ["changes.atom", "changes", "--out"],
    ["changes.ndjson", "changes", "--out"],
    ["{date}.zip", "snapshot", "create", ...license, "--to"],
    ["folder", "snapshot", "create", ...license, "--to"],
    ["folder", "snapshot", "publish", ...license, "--to"],
  ] as const) {
    const made = path(`new/${args.join("-")}-${name.length}`);
    await armoire(0, [...args, join(made, name)]);
    expect({ args, made: readdirSync(made) }).toMatchObject({ args, made: [expect.anything()] });
  }
  await armoire(2, ["query", "select nothing", "--out", path("other/answer.csv")]);
  await armoire(1, ["query", "select abs(-9223372036854775808)", "--out", path("other/answer.sqlite")]);
  await armoire(1, ["export", "--as-of", "99", "--out", path("other/package")]);
  expect(readdirSync(folder.path)).not.toContain("other");
});

it("a signed snapshot is accepted with its key only, from a file or an address", async () => {
  const key = path("publisher.pem");
  const made = await armoire(0, ["snapshot", "key", key, "--create"]);
  const [, fingerprint = ""] = /^Fingerprint ((?:[a-z-]+-){11}[a-z]+)$/m.exec(made.stdout) ?? [];
  expect((await armoire(0, ["snapshot", "key", key])).stdout).toBe(`Fingerprint ${fingerprint}\n`);
  expect((await armoire(1, ["snapshot", "key", key, "--create"])).stderr).toContain("never replaced");
  const create = ["snapshot", "create", "--license", "CC0-1.0"];
  const created = await armoire(0, [...create, "--to", path("signed-{date}.zip"), "--sign", key]);
  expect(created.stdout).toContain(`Signed by ${fingerprint}`);
  const name = readdirSync(folder.path).find((one) => /^signed-\d{4}-\d\d-\d\d\.zip$/.test(one)) ?? "";
  const verified = await armoire(0, ["snapshot", "verify", path(name), "--key", fingerprint]);
  expect(verified.stdout).toContain("Not damaged, and signed with this key.");
  expect((await armoire(0, ["snapshot", "show", path(name)])).stdout).toContain(`Signature  ${fingerprint}`);
  await armoire(0, [...create, "--to", path("unsigned.zip")]);
  const unsigned = await armoire(15, ["snapshot", "verify", path("unsigned.zip"), "--key", fingerprint]);
  expect(unsigned.stdout).toContain("it is not signed");
  await armoire(2, ["snapshot", "verify", path(name), "--key", "acid"]);
  await using server = await serveFolder(folder.path);
  const load = (what: string, more: readonly string[]) => [
    "snapshot",
    "load",
    what,
    "--allow-private",
    ...more,
  ];
  const mirror = ["--mirror", path("loaded.sqlite")];
  await armoire(0, load(`${server.url}${name}?download=1`, [...mirror, "--key", fingerprint]));
  const refused = await armoire(15, load(`${server.url}unsigned.zip`, [...mirror, "--key", fingerprint]));
  expect(refused.stderr).toContain("it is not signed");
});

it("a folder is published, by schedule too, and its files are loaded together", async () => {
  const to = path("public");
  const publish = ["snapshot", "publish", "--to", to, "--license", "CC0-1.0"];
  expect((await armoire(0, publish)).stdout).toMatch(
    /^Published snapshot 1, a whole one with \d+ resources$/m,
  );
  expect((await armoire(0, publish)).stdout).toContain("Nothing has changed since snapshot 1");
  sandbox.advance({ changes: 1, additions: 1 });
  await armoire(0, ["sync", "--quiet"]);
  const { published } = JSON.parse((await armoire(0, [...publish, "--json"])).stdout);
  expect(published).toMatchObject({ sequence: 2, signature: null });
  const files = readdirSync(to).filter((name) => name.endsWith(".zip"));
  const loaded = ["snapshot", "load", "--mirror", path("followed.sqlite")];
  const refused = await armoire(15, [...loaded, join(to, published.file)]);
  expect(refused.stderr).toContain("increment of another snapshot");
  await armoire(0, [...loaded, ...files.map((name) => join(to, name))]);
  expect((await armoire(2, publish.slice(0, 4))).stderr).toContain("needs a licence");
  const dataDir = ["--data-dir", path("data")];
  await armoire(0, ["schedule", "add", "publish", "--cron", "@daily", ...dataDir, "--", ...publish]);
  expect((await armoire(0, ["schedule", "list"])).stdout).toContain("publish");
});

it("a snapshot needs a licence, and is never of an account", async () => {
  const to = path("refused.zip");
  expect((await armoire(2, ["snapshot", "create", "--to", to])).stderr).toContain("needs a licence");
  const env = { ARMOIRE_BASE_URL: sandbox.url, ARMOIRE_TOKEN: sandbox.users[0]?.token ?? "" };
  for (const args of [
    ["account", "add", "ada"],
    ["sync", "--account", "ada"],
  ])
    await callArmoire([...args, "--quiet", "--data-dir", path("data")], { env });
  const args = ["snapshot", "create", "--account", "ada", "--to", to, "--license", "CC0-1.0"];
  expect((await armoire(15, args)).stderr).toContain("the mirror of an account, which is private");
  const publish = ["snapshot", "publish", "--to", path("none"), "--license", "CC0-1.0", "--account", "ada"];
  expect((await armoire(15, publish)).stderr).toContain("the mirror of an account, which is private");
  expect(readdirSync(folder.path)).not.toContain("none");
  const apart = ["--data-dir", path("apart")];
  const backup = ["backup", "--account", "ada", "--with-catalogue", "--to", folder.path, "--quiet"];
  await callArmoire(["account", "add", "ada", "--quiet", ...apart], { env });
  expect(await callArmoire([...backup, ...apart], { env })).toMatchObject({ exitCode: 0 });
  const linked = await callArmoire(["snapshot", "create", "--to", to, "--license", "CC0-1.0", ...apart], {
    env,
  });
  expect(linked).toMatchObject({ exitCode: 15, stderr: expect.stringContaining("an account's bras") });
  expect(readdirSync(folder.path)).not.toContain("refused.zip");
});
