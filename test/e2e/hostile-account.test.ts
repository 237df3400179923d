/** Account mirrors that a stranger has changed, named by `--account`: the token is sent to the account's service alone. */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountPlace } from "../../src/accounts/account.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { expectUnreadable } from "../support/canary.ts";
import { type PictureServer, startPictureServer } from "../support/picture-server.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let other: PictureServer;
let sound: string;
let n = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({ users: 2, brands: 2, models: 3, sizes: 5, allowance: 5_000 });
  other = await startPictureServer();
  sound = join(folder.path, "sound");
  mkdirSync(sound, { mode: 0o700 });
  const env = { ARMOIRE_TOKEN: sandbox.users[1]?.token ?? "" };
  const added = await callArmoire(["account", "add", "ada", "--base-url", sandbox.url, "--data-dir", sound], {
    env,
  });
  expect(added).toMatchObject({ exitCode: 0 });
  expect((await run(sound, "sync")).exitCode).toBe(0);
});
afterAll(async () => {
  await sandbox.close();
  await other[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** A data directory of which the mirror was changed by these statements. OTHER is the address of another server. */
function changed(...statements: readonly string[]): string {
  const dataDir = join(folder.path, `changed-${++n}`);
  cpSync(sound, dataDir, { recursive: true });
  const { mirrorFile } = accountPlace(dataDir, "ada");
  expectUnreadable(mirrorFile);
  const db = new Database(mirrorFile);
  db.pragma("foreign_keys = off");
  for (const statement of statements) db.exec(statement.replaceAll("OTHER", `${other.origin}/`));
  db.close();
  sandbox.clearLog();
  return dataDir;
}

const run = (dataDir: string, ...command: readonly string[]) =>
  callArmoire([
    ...command.map((word) => word.replace("NEW", join(folder.path, `new-${++n}`))),
    ...["--account", "ada", "--data-dir", dataDir],
  ]);

const reading: readonly (readonly string[])[] = [
  ["status"],
  ["plan"],
  ["runs", "--all"],
  ["search", "a"],
  ["show", "bra", "1001000"],
  ["changes"],
  ["query", "select * from bra"],
  ["export", "--out", "NEW"],
  ["page", "--out", "NEW.html"],
  ["backup", "create", "--to", "NEW.zip"],
  ["mirror", "check"],
  ["mirror", "rebuild"],
];

describe("whose data a mirror holds", () => {
  it.each([
    ["the area of a catalogue", "update _meta set value = 'catalogue' where key = 'area'"],
    ["the base URL of another service", "update _meta set value = 'OTHER' where key = 'base_url'"],
    ["resources of another service", "update _resource set url = 'OTHER' || id"],
    ["one due resource of another service", "update _resource set url = 'OTHER', state = 'due' where id = 2"],
    ["an origin that begins like its own", "update _resource set url = replace(url, '/me', '0/me')"],
    ["an address without an origin", "update _resource set url = '/me/' where kind = 'me'"],
  ])("%s is refused, before any request", async (_what, statement) => {
    const dataDir = changed(statement);
    for (const command of [["status"], ["export", "--out", "NEW"], ["mirror", "rebuild"], ["sync"]])
      expectRefusal(
        await run(dataDir, ...command),
        14,
        /^armoire: The mirror is damaged \((area in _meta|_resource \d+)\): .*sqlite\n/,
      );
    expect([sandbox.log(), other.requests]).toEqual([[], []]);
  });

  it("a mirror with another user's number is refused, since a token of that user would be accepted", async () => {
    const dataDir = changed("update _meta set value = '1000' where key = 'user_id'");
    for (const command of [["status"], ["backup", "create", "--to", "NEW.zip"], ["sync", "--mode", "full"]])
      expectRefusal(
        await run(dataDir, ...command),
        14,
        /^armoire: The mirror is damaged \(user_id in _meta\): /,
      );
    expect((await run(dataDir, "mirror", "check")).stdout).toContain("the user_id is not that of the rows");
  });
});

it("texts that were changed in all tables are printed without control characters", async () => {
  const hostile = "char(27) || '[31m'";
  const dataDir = changed(
    `update _meta set value = ${hostile} where key in ('user_id', 'username')`,
    `update _user set username = ${hostile}`,
    `update _bra set name = ${hostile}, note = ${hostile}`,
    "update _resource set owner_id = id",
  );
  for (const command of reading) {
    const { exitCode, stdout, stderr } = await run(dataDir, ...command);
    expect([0, 14], `${command.join(" ")}: ${stderr}`).toContain(exitCode);
    expect(stdout + stderr).not.toContain("\u001b");
    expect(stderr).not.toMatch(/This is unexpected|\n {2,}at /);
  }
});

it("a sync into a mirror without the resource of its user ends with exit code 14", async () => {
  const dataDir = changed("delete from _resource where kind = 'me'");
  expectRefusal(await run(dataDir, "sync", "--mode", "full"), 14, /^armoire: The mirror is damaged: /);
});
