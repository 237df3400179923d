/** Backups at the command line, from the first one to a restore on another computer. */
import {
  appendFileSync,
  chmodSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { fakeIo } from "../cli/support/fake-io.ts";
import { expectUnreadable, testPassphrase, writeSecretFile } from "../support/canary.ts";
import { type CommandResult, callArmoire, temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
const path = (name: string) => join(folder.path, name);

const armoire = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> => callArmoire([...args, "--data-dir", path("data")], { env });

/** Runs a command that must end with this exit code. */
async function expectExit(exitCode: number, args: readonly string[], env = {}): Promise<CommandResult> {
  const result = await armoire(args, env);
  expect({ args, exitCode: result.exitCode, stderr: result.stderr }).toEqual({
    args,
    exitCode,
    stderr: result.stderr,
  });
  expect(result.stderr.split("\n").length, result.stderr).toBeLessThanOrEqual(5);
  return result;
}

const backups = (name = "backups") => readdirSync(path(name)).sort();

beforeAll(async () => {
  folder = await temporaryFolder();
  mkdirSync(path("data"), { mode: 0o700 });
  mkdirSync(path("backups"));
  sandbox = await startSandbox({ users: 2, brands: 2, models: 4, sizes: 8, allowance: 5000 });
  for (const [name, n] of [
    ["ada", 0],
    ["bea", 1],
  ] as const) {
    const env = { ARMOIRE_TOKEN: sandbox.users[n]?.token ?? "" };
    await expectExit(0, ["account", "add", name, "--base-url", sandbox.url], env);
  }
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

describe("one command", () => {
  it("armoire backup syncs and backs up a new account, and prints the root hash to keep", async () => {
    const { stdout } = await expectExit(0, ["backup", "--account", "ada", "--to", path("backups")]);
    expect(backups()).toEqual([expect.stringMatching(/^armoire-ada-\d{4}-\d\d-\d\dT\d{6}Z\.zip$/)]);
    expect(stdout).toMatch(/^Backed up ada as of .*: 30 bras, \d+ measurements, \d+ revisions\.$/m);
    const [, rootHash = ""] = /^Root hash ([0-9a-f]{64})$/m.exec(stdout) ?? [];
    const file = path(`backups/${backups()[0]}`);
    const verified = await expectExit(0, ["backup", "verify", file]);
    expect(verified.stdout).toContain("Without --encrypt or --root-hash a forged backup cannot be detected.");
    const backup = /^Backup {5}[\d-]+ [\d:]+ UTC, verified \d+ s ago: (.*)$/m;
    expect((await expectExit(0, ["status", "--account", "ada"])).stdout.match(backup)?.[1]).toBe(file);
    const remembered = await expectExit(0, ["backup", "verify", file, "--root-hash", rootHash]);
    expect(remembered.stdout).toContain("Not damaged and not forged: the root hash matches.");
    await expectExit(15, ["backup", "verify", file, "--root-hash", "0".repeat(64)]);
    const cut = await expectExit(2, ["backup", "verify", file, "--root-hash", rootHash.slice(2)]);
    expect(cut.stderr).toContain("--root-hash has 62 characters");
    expect(cut.stderr).not.toContain(rootHash.slice(2));
    const wrongHash = ["backup", "restore", file, "--to", path("other"), "--root-hash", "0".repeat(64)];
    expect((await expectExit(15, wrongHash)).stderr).toContain(
      "this is another backup than the one with the given root hash",
    );
    expect(stdout.match(/verified/g)).toEqual(["verified"]);
    expect(stdout).toContain("It was verified after writing.");
  });

  it("armoire backup prints nothing with --quiet, and removes old backups", async () => {
    const [first] = backups();
    const args = ["backup", "--account", "ada", "--to", path("backups"), "--keep-last", "1", "--quiet"];
    expect(await expectExit(0, args)).toMatchObject({ stdout: "", stderr: "" });
    expect(backups()).toHaveLength(1);
    expect(backups()).not.toContain(first);
  });

  it("armoire backup backs up the mirrored data if the sync fails, and removes nothing", async () => {
    sandbox.editUser(sandbox.users[0]?.username ?? "", { isRevoked: true });
    const before = backups();
    const args = ["backup", "--account", "ada", "--to", path("backups"), "--keep-last", "1"];
    const { stdout, stderr } = await expectExit(4, args);
    const io = fakeIo({ env: { HOME: path("data") } });
    await main([...args, "--data-dir", path("data")], { ...io, err: io.out });
    sandbox.editUser(sandbox.users[0]?.username ?? "", { isRevoked: false });
    // The refusal comes first, so that the report is not taken for that of a sync.
    expect(io.written.out).toMatch(
      /^armoire: .*\(answered 401\)\n(?:.+\n)+The same backup exists already: ada/,
    );
    expect(stdout).toMatch(/^(Backed up|The same backup exists already:) ada/m);
    expect(stderr).toContain("`armoire account add ada` replaces the token");
    expect(stderr).toContain("The backup contains the data mirrored before.");
    expect(backups()).toEqual(expect.arrayContaining(before));
  });

  it("armoire backup needs an account, a folder, and something to back up", async () => {
    await expectExit(2, ["backup", "--to", path("backups")]);
    await expectExit(2, ["backup", "--account", "ada"]);
    const { stderr } = await expectExit(1, ["backup", "--account", "ada", "--to", path("nowhere")]);
    expect(stderr).toContain("There is no folder");
    const [file = ""] = backups();
    const ofFile = await expectExit(2, ["backup", "--account", "ada", "--to", path(`backups/${file}`)]);
    expect(ofFile.stderr).toContain("This is not a folder");
    await expectExit(1, ["backup", "create", "--account", "bea", "--to", path("backups")]);
    await expectExit(2, ["backup", "prune", path("backups")]);
  });
});

describe("create, restore and unpack", () => {
  it("the backup of an account restores the account on another computer, where the next sync is free", async () => {
    const [file = ""] = globSync(path("backups/*.zip"));
    await expectExit(1, ["backup", "restore", file, "--account", "ada"]);
    for (const left of globSync(path("data/accounts/ada/mirror.sqlite*"))) rmSync(left);
    await expectExit(0, ["backup", "restore", file, "--account", "ada"]);
    await expectExit(0, ["mirror", "check", "--account", "ada"]);
    const { stdout } = await expectExit(0, ["sync", "--account", "ada", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ complete: true, requests: { counted: 0 } },
      resources: { new: 0, changed: 0, gone: 0 },
    });
  });

  it("the backup of an account is not restored for another user, nor to two places or none", async () => {
    const [file = ""] = globSync(path("backups/*.zip"));
    const { stderr } = await expectExit(4, ["backup", "restore", file, "--account", "bea"]);
    expect(stderr).toContain("The backup is of anna (user 1000)");
    await expectExit(0, ["sync", "--base-url", sandbox.url, "--depth", "brands"]);
    await expectExit(0, ["backup", "create", "--base-url", sandbox.url, "--to", path("data/brands.zip")]);
    const ofCatalogue = await expectExit(4, [
      "backup",
      "restore",
      path("data/brands.zip"),
      "--account",
      "bea",
    ]);
    expect(ofCatalogue.stderr).toContain("The backup is of the catalogue of");
    await expectExit(2, ["backup", "restore", file]);
    const intoFolder = await expectExit(1, ["backup", "restore", file, "--mirror", path("data")]);
    expect(intoFolder.stderr).toMatch(/^armoire: A folder is there, .*data\nGive the name of a new file/);
    const ontoFile = await expectExit(1, ["backup", "restore", file, "--to", file]);
    expect(ontoFile.stderr).toMatch(/^armoire: The destination is not a folder: /);
    await expectExit(2, ["backup", "restore", file, "--account", "bea", "--to", path("files")]);
    expect(readdirSync(folder.path).sort()).toEqual(["backups", "data"]);
    expect(readdirSync(path("data/accounts/bea"))).not.toContain("mirror.sqlite");
  });

  it("the backup of an account is unpacked into a folder of files", async () => {
    const [file = ""] = globSync(path("backups/*.zip"));
    await expectExit(0, ["backup", "restore", file, "--to", path("new/files")]);
    renameSync(path("new/files"), path("files"));
    const readme = readFileSync(path("files/README.txt"), "utf8");
    expect(readme).toContain("User            anna (user 1000)");
    expect(statSync(path("files/tables/bra.csv")).mode & 0o777).toBe(0o600);
  });

  it("the backup of an account explains in its README how to sync a restored mirror", async () => {
    const readme = readFileSync(path("files/README.txt"), "utf8");
    const commands = [...readme.matchAll(/^ {2}armoire ((?:account add|backup restore) .*)$/gm)].map(
      ([, commandLine = ""]) =>
        commandLine.replace("FILE", globSync(path("backups/*.zip"))[0] ?? "").split(" "),
    );
    expect(commands.map((commandLine) => commandLine.slice(0, 2).join(" "))).toEqual([
      "backup restore",
      "account add",
      "backup restore",
    ]);
    mkdirSync(path("lone"));
    const [addElsewhere = [], add = [], restore = []] = commands;
    const lone = path("lone/mirror.sqlite");
    await expectExit(0, addElsewhere.with(-1, lone));
    await expectExit(2, ["sync", "--mirror", lone, "--base-url", sandbox.url]);
    const env = { ARMOIRE_TOKEN: sandbox.users[0]?.token ?? "" };
    for (const commandLine of [add, restore, ["sync", "--account", "ada"]]) {
      const { exitCode } = await callArmoire([...commandLine, "--data-dir", path("another")], { env });
      expect({ commandLine, exitCode }).toEqual({ commandLine, exitCode: 0 });
    }
  });

  it("the backup of an account contains no token, and neither does any output", async () => {
    const args = ["backup", "--account", "ada", "--to", path("backups"), "--verbose", "--json"];
    const { stdout, stderr } = await expectExit(0, args);
    const secrets = sandbox.users.map(({ token }) => token);
    const texts = [
      stdout,
      stderr,
      ...globSync(path("backups/*")).map((file) => readFileSync(file, "latin1")),
    ];
    expect(texts.length).toBeGreaterThan(2);
    for (const secret of secrets) {
      for (const form of [secret, Buffer.from(secret).toString("base64").replace(/=+$/, "")])
        expect(texts.filter((text) => text.includes(form))).toEqual([]);
    }
  });
});

describe("encryption", () => {
  const passphrase = { ARMOIRE_BACKUP_PASSPHRASE: testPassphrase };

  it("an encrypted backup opens with its passphrase, which is stored nowhere", async () => {
    mkdirSync(path("hidden"));
    const create = ["backup", "create", "--account", "ada", "--to", path("hidden"), "--encrypt"];
    await expectExit(4, create);
    writeFileSync(path("hidden/taken.zip.age"), "a letter");
    for (const [place, exitCode, commandLine, encrypt] of [
      ["hidden/a.zip", 2, "must end in .zip.age", ["--encrypt"]],
      ["hidden/a.zip.age", 2, "Add --encrypt", []],
      ["hidden/taken.zip.age", 1, "Another file exists there", ["--encrypt"]],
    ] as const) {
      const args = ["backup", "create", "--account", "ada", "--to", path(place), ...encrypt];
      expect((await expectExit(exitCode, args)).stderr).toContain(commandLine);
    }
    rmSync(path("hidden/taken.zip.age"));
    await expectExit(2, [
      "backup",
      "create",
      "--account",
      "ada",
      "--to",
      path("hidden"),
      "--passphrase-file",
      "x",
    ]);
    await expectExit(0, create, passphrase);
    const [name = ""] = backups("hidden");
    expect(name).toMatch(/\.zip\.age$/);
    expect((await expectExit(0, ["backup", "verify", path(`hidden/${name}`)], passphrase)).stdout).toContain(
      "Not damaged, and written with this passphrase.",
    );
    await expectExit(4, ["backup", "verify", path(`hidden/${name}`)]);
    await expectExit(4, ["backup", "verify", path(`hidden/${name}`)], { ARMOIRE_BACKUP_PASSPHRASE: "x" });
    expect((await expectExit(0, ["backup", "list", path("hidden")])).stdout).toContain(
      "encrypted, passphrase missing",
    );
    writeSecretFile(path("passphrase"), `${testPassphrase}\n`);
    const opened = await expectExit(0, [
      "backup",
      "list",
      path("hidden"),
      "--passphrase-file",
      path("passphrase"),
    ]);
    expect(opened.stdout).toContain("30 bras");
    await searchIt(name);
    chmodSync(path("passphrase"), 0o644);
    const { stderr } = await expectExit(4, [
      "backup",
      "list",
      path("hidden"),
      "--passphrase-file",
      path("passphrase"),
    ]);
    expect(stderr).toContain("chmod 600");
  }, 90_000);

  async function searchIt(name: string): Promise<void> {
    const scan = ["doctor", "--offline", "--account", "ada", "--scan", path("hidden")];
    const closed = await expectExit(0, scan);
    expect(closed.stdout).toMatch(
      new RegExp(`✓ Part of .*${name} was not searched: it is encrypted, and no`),
    );
    const leak = path("hidden/todo.txt");
    writeSecretFile(leak, `The backup opens with ${testPassphrase}`);
    const known = await expectExit(1, [...scan, "--passphrase-file", path("passphrase")]);
    rmSync(leak);
    expect(known.stdout).toContain(`✗ The passphrase of backups is in ${leak} (as it is)\n`);
    expect(known.stdout).not.toContain(`${name} was not searched`);
    expect(known.stdout.match(/✗/g)).toHaveLength(1);
    const short = await expectExit(1, scan, { ARMOIRE_BACKUP_PASSPHRASE: "x" });
    expect(short.stdout).toContain("A passphrase of fewer than 8 characters is not searched for");
    const useless = await expectExit(2, ["doctor", "--offline", "--passphrase-file", path("passphrase")]);
    expect(useless.stderr).toContain("--passphrase-file needs --scan");
  }
});

it("list shows the changes between backups, and damaged ones", async () => {
  const before = backups().length;
  const { stdout } = await expectExit(0, ["backup", "list", path("backups"), "--json"]);
  expect(JSON.parse(stdout)).toHaveLength(before);
  const [file = ""] = backups();
  appendFileSync(path(`backups/${file}`), "x");
  expectUnreadable(path(`backups/${file}`));
  const listed = await expectExit(15, ["backup", "list", path("backups")]);
  expect(listed.stdout).toMatch(new RegExp(`^${file}\\n  damaged: there are bytes after the end$`, "m"));
  const preview = await expectExit(0, ["backup", "prune", path("backups"), "--keep-last", "1", "--dry-run"]);
  expect(preview.stdout).toMatch(new RegExp(`^${file} .*left alone: damaged: there are`, "m"));
  expect(backups()).toHaveLength(before);
});
