/**
 * Runs every command of the program for two accounts of one data directory, under umask 000. No output or file of one account
 * contains data of the other, and all files are private. A new command is included automatically; if it needs operands, add
 * them to the list below.
 */
import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findSecrets } from "../../src/doctor/find-secrets.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { hideSecret } from "../../src/service/credentials/credential.ts";
import { leavesOf, loadCommandLine } from "../support/command-line.ts";
import { type CommandResult, callArmoire, temporaryFolder } from "../support/run-armoire.ts";

const names = ["ada", "bea"] as const;
type Name = (typeof names)[number];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let umask: number;
const cwd = process.cwd();
const pathTo = (...path: readonly string[]): string => join(folder.path, ...path);
const data = (): string => pathTo("data");
const userOf = (name: Name) => sandbox.users[names.indexOf(name)];

/** Calls a command in the work folder of the user. */
function armoire(name: Name, args: readonly string[]): Promise<CommandResult> {
  process.chdir(pathTo("work", name));
  const env = { ARMOIRE_TOKEN: userOf(name)?.token ?? "", ARMOIRE_BASE_URL: sandbox.url };
  return callArmoire([...args, "--data-dir", data()], { env });
}

/** Commands without an account, or for all accounts of a data directory. */
const excluded = [
  "sandbox",
  "account list",
  "worker",
  "serve",
  "mcp",
  "schedule",
  "completion",
  "snapshot key",
].map((commandName) => `armoire ${commandName}`);

/** Commands whose operands name the account. */
const withoutAccount: readonly string[] = [
  "account add",
  "account remove",
  "backup verify",
  "backup restore",
  "snapshot verify",
  "snapshot show",
  "snapshot load",
].map((commandName) => `armoire ${commandName}`);

/** Required operands, besides the account. */
const operands: Readonly<Record<string, (name: Name) => readonly string[]>> = {
  "armoire show": () => ["me"],
  "armoire history": () => ["me"],
  "armoire search": () => ["a"],
  "armoire query": () => ["select * from user, bra, measurement"],
  "armoire page": (name) => ["--out", pathTo("work", name, "page.html")],
  "armoire export create": (name) => ["--out", pathTo("work", name, "export")],
  "armoire export verify": (name) => [pathTo("work", name, "export")],
  "armoire account add": (name) => [name],
  "armoire account remove": (name) => [name, "--yes"],
  "armoire backup run": () => ["--to", pathTo("backups")],
  "armoire backup create": () => ["--to", pathTo("backups")],
  "armoire backup verify": (name) => [backupOf(name)],
  "armoire backup list": () => [pathTo("backups")],
  "armoire backup prune": () => [pathTo("backups"), "--keep-last", "1"],
  "armoire snapshot create": (name) => [
    ...["--to", pathTo("work", name, "snapshot.zip"), "--license", "CC0-1.0"],
  ],
  "armoire snapshot publish": () => ["--to", pathTo("backups"), "--license", "CC0-1.0"],
  "armoire snapshot verify": (name) => [backupOf(name)],
  "armoire snapshot show": (name) => [backupOf(name)],
  "armoire snapshot load": (name) => [backupOf(name)],
  "armoire backup restore": (name) => [backupOf(name), "--mirror", pathTo("work", name, "restored.sqlite")],
};

/** Commands that refuse an account and its backups, as a snapshot holds nothing of an account. */
const refusing = "armoire snapshot";
const removing = "armoire account remove";
const program = await loadCommandLine();
const commands = program.commands
  .flatMap(leavesOf)
  .map((command) => ({ commandName: nameOf(command) }))
  .filter(({ commandName }) => !excluded.some((parent) => `${commandName} `.startsWith(`${parent} `)))
  // The last command, since it removes the account.
  .sort((a, b) => Number(a.commandName === removing) - Number(b.commandName === removing));

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function backupOf(name: Name): string {
  const found = readdirSync(pathTo("backups")).find((file) => file.startsWith(`armoire-${name}-`));
  return pathTo("backups", found ?? "none");
}

/** Texts that identify a user in output and in stored files. */
function identifiersOf(name: Name): Readonly<Record<string, string>> {
  const { token = "", username = "" } = userOf(name) ?? {};
  const id = 1000 + names.indexOf(name);
  return { token, username, email: `user${id}@`, bra: `/me/bras/${id}` };
}

async function expectApart(): Promise<void> {
  for (const name of names) {
    const files = readdirSync(pathTo("backups")).filter((file) => file.startsWith(`armoire-${name}-`));
    const ownPaths = [
      pathTo("data/accounts", name),
      pathTo("work", name),
      ...files.map((file) => pathTo("backups", file)),
    ];
    const identifiers = names.flatMap((user) =>
      Object.entries(identifiersOf(user)).map(([field, identifier]) => ({
        ...{ label: `${user}'s ${field}`, credential: hideSecret(identifier), places: [] },
      })),
    );
    const { found, unreadable } = await findSecrets(ownPaths, identifiers);
    expect(unreadable).toEqual([]);
    expect(found.filter(({ label }) => !label.startsWith(name))).toEqual([]);
    expect(found.map(({ label }) => label)).toEqual(
      expect.arrayContaining([`${name}'s bra`, `${name}'s username`]),
    );
  }
}

beforeAll(async () => {
  umask = process.umask(0);
  folder = await temporaryFolder();
  for (const path of ["data", "backups", "work/ada", "work/bea"])
    mkdirSync(pathTo(path), { recursive: true, mode: 0o700 });
  sandbox = await startSandbox({ users: 2, brands: 4, models: 10, sizes: 30, allowance: 5000 });
  const { exitCode } = await armoire("ada", ["sync", "--depth", "models", "--quiet"]);
  expect(exitCode).toBe(0);
  for (const name of names) {
    expect(await armoire(name, ["account", "add", name, "--quiet"])).toMatchObject({ exitCode: 0 });
    const catalogue = name === "ada" ? ["--with-catalogue"] : [];
    const args = ["backup", "--account", name, "--to", pathTo("backups"), "--quiet", ...catalogue];
    expect(await armoire(name, args)).toMatchObject({ exitCode: 0 });
  }
});
afterAll(async () => {
  process.umask(umask);
  process.chdir(cwd);
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

it.each(commands)("$commandName shows nothing of the other account", async ({ commandName }) => {
  for (const name of names) {
    const commandLine = [...commandName.split(" ").slice(1), ...(operands[commandName]?.(name) ?? [])];
    const account = withoutAccount.includes(commandName) ? [] : ["--account", name];
    // One account as text, the other as JSON.
    const result = await armoire(name, [...commandLine, ...account, ...(name === "bea" ? ["--json"] : [])]);
    expect({ commandLine, ...result }).toMatchObject({ exitCode: commandName.startsWith(refusing) ? 15 : 0 });
    for (const otherName of names.filter((user) => user !== name))
      for (const identifier of Object.values(identifiersOf(otherName)))
        expect(result.stdout + result.stderr).not.toContain(identifier);
  }
  if (commandName !== removing) await expectApart();
});

it("no request mixes the two users' credentials", () => {
  const requests = sandbox.log().filter(({ url }) => /\/me\/bras\/1/.test(url));
  expect(requests.length).toBeGreaterThan(20);
  for (const { url, credential, status } of requests) {
    expect([200, 304]).toContain(status);
    const account = names.find((name) => url.includes(identifiersOf(name).bra ?? "?"));
    expect(credential).toBe(`user:${account && userOf(account)?.username}`);
  }
});

it("files written under umask 000 are private", () => {
  const paths = ["data", "work", "backups"].flatMap((path) => [
    path,
    ...(readdirSync(pathTo(path), { recursive: true }) as string[]).map((below) => join(path, below)),
  ]);
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => (lstatSync(pathTo(path)).mode & 0o077) !== 0)).toEqual([]);
});
