import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, truncateSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectUnreadable } from "../support/canary.ts";
import { overwriteFreePage, overwriteTable } from "../support/overwrite-table.ts";
import { callArmoire, runArmoire } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const pageBytes = 4096;

const commands: readonly (readonly string[])[] = [
  ["sync"],
  ["plan"],
  ["status"],
  ["runs"],
  ["show", "brand", "x"],
  ["query", "select count(*) from size"],
  ["export", "--out", "never-written"],
  ["mirror", "rebuild"],
  ["mirror", "compact"],
];

/** The only place for files of a sync that is not refused as it should be. */
const settings = () => ["--base-url", fixture.sandbox.url, "--data-dir", fixture.newPath()];

const toPath = (word: string) => (word === "never-written" ? fixture.newPath() : word);

/** Runs a command that must not change the file. */
async function expectUntouched(command: readonly string[], file: string, message: RegExp): Promise<void> {
  const hash = () => createHash("sha256").update(readFileSync(file)).digest("hex");
  const before = hash();
  const args = [...command, "--mirror", file, ...settings()];
  expectRefusal(await callArmoire(args.map(toPath)), 14, message);
  expect(hash()).toBe(before);
}

describe("newer version", () => {
  let file: string;
  beforeAll(() => {
    file = `${fixture.newPath()}.sqlite`;
    expectUnreadable(file);
    copyFileSync(fixture.mirror, file);
    const db = new Database(file);
    db.prepare("insert into _migration (name, timestamp) values ('9999-from-the-future', '')").run();
    db.pragma("wal_checkpoint(truncate)");
    db.pragma("journal_mode = delete");
    db.close();
  });

  it.concurrent.each(commands)(
    "a mirror of a newer version is refused with both versions, and not changed, by %s",
    (...command) =>
      expectUntouched(
        command,
        file,
        /newer version of Armoire \(9999-from-the-future; this version knows \d{4}-[a-z-]+\)/,
      ),
  );
});

describe("truncated file", () => {
  let file: string;
  beforeAll(() => {
    file = `${fixture.newPath()}.sqlite`;
    expectUnreadable(file);
    copyFileSync(fixture.mirror, file);
    truncateSync(file, Math.floor(readFileSync(file).length / 2 / pageBytes) * pageBytes);
  });

  it.concurrent.each(commands)(
    "a truncated mirror is refused as damaged, and not changed, by %s",
    (...command) => expectUntouched(command, file, /damaged|malformed/),
  );
});

describe("damaged page", () => {
  it.concurrent.each([
    ["_resource", ["sync"]],
    ["_resource", ["plan"]],
    ["_resource", ["status"]],
    ["_run", ["runs"]],
    ["_brand", ["show", "brand", "x"]],
    ["_size", ["query", "select count(band) from size"]],
    ["_brand", ["export", "--out", "never-written"]],
    ["_content", ["mirror", "rebuild"]],
    ["_content", ["mirror", "compact"]],
  ] as const)("damage in %s is reported as damage by %j", async (table, command) => {
    const args = [...command, "--mirror", copyWithNoiseIn(table), ...settings()];
    expectRefusal(await callArmoire(args.map(toPath)), 14, /damaged|malformed/);
  });

  it("the damage is found by mirror check", async () => {
    const args = ["mirror", "check", "--mirror", copyWithNoiseIn("_model")];
    const { stdout, stderr, exitCode } = await runArmoire(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 14, stderr: "" });
    expect(stdout).toMatch(/\d+ problems? in .*Restore a copy/);
  });
});

it("damage to the list of free pages is reported by sync and found by mirror check", async () => {
  const file = `${fixture.newPath()}.sqlite`;
  expectUnreadable(file);
  copyFileSync(fixture.mirror, file);
  overwriteFreePage(file);
  expectRefusal(await callArmoire(["sync", "--mirror", file, ...settings()]), 14, /damaged/);
  expect((await callArmoire(["mirror", "check", "--mirror", file])).exitCode).toBe(14);
});

/** A copy of the mirror in which the first page of a table is unreadable. */
function copyWithNoiseIn(table: string): string {
  const file = `${fixture.newPath()}.sqlite`;
  expectUnreadable(file);
  copyFileSync(fixture.mirror, file);
  overwriteTable(file, table);
  return file;
}
