import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runArmoire } from "../support/run-armoire.ts";
import { expectRefusal } from "./expect-refusal.ts";
import { createFixture, type Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const pageBytes = 4096;

const commands: readonly (readonly string[])[] = [
  ["sync"],
  ["status"],
  ["runs"],
  ["show", "brand", "x"],
  ["query", "select count(*) from size"],
  ["export", "--out", "never-written"],
  ["mirror", "rebuild"],
];

/** Runs a command on a file that it has to leave as it is. */
async function expectUntouched(command: readonly string[], file: string, says: RegExp): Promise<void> {
  const hash = () => createHash("sha256").update(readFileSync(file)).digest("hex");
  const before = hash();
  const args = [...command, "--mirror", file, "--base-url", fixture.sandbox.url];
  expectRefusal(await runArmoire(args, { cwd: fixture.folder }), 14, says);
  expect(hash()).toBe(before);
}

describe("a mirror of a later version is refused with both versions, and not touched", () => {
  let file: string;
  beforeAll(() => {
    file = `${fixture.newPath()}.sqlite`;
    copyFileSync(fixture.mirror, file);
    const db = new Database(file);
    db.prepare("insert into _migration (name, timestamp) values ('9999-from-the-future', '')").run();
    db.pragma("wal_checkpoint(truncate)");
    db.pragma("journal_mode = delete");
    db.close();
  });

  it.concurrent.each(commands)("by %s", (...command) =>
    expectUntouched(command, file, /later version \(9999-from-the-future, this program knows 0001-initial\)/),
  );
});

describe("a mirror whose end is missing is refused as damaged, and not touched", () => {
  let file: string;
  beforeAll(() => {
    file = `${fixture.newPath()}.sqlite`;
    copyFileSync(fixture.mirror, file);
    truncateSync(file, Math.floor(readFileSync(file).length / 2 / pageBytes) * pageBytes);
  });

  it.concurrent.each(commands)("by %s", (...command) => expectUntouched(command, file, /damaged|malformed/));
});

describe("damage that is met only while reading is told as such", () => {
  let file: string;
  beforeAll(() => {
    file = `${fixture.newPath()}.sqlite`;
    copyFileSync(fixture.mirror, file);
    const bytes = readFileSync(file);
    for (const page of rootPagesOf(file, ["_resource", "_run", "_brand"]))
      bytes.fill(0xa5, (page - 1) * pageBytes, page * pageBytes);
    writeFileSync(file, bytes);
  });

  it.concurrent.each(commands)("by %s", async (...command) => {
    const args = [...command, "--mirror", file, "--base-url", fixture.sandbox.url];
    expectRefusal(await runArmoire(args, { cwd: fixture.folder }), 14, /damaged|malformed/);
  });

  it("and found by mirror check", async () => {
    const { stdout, stderr, exitCode } = await runArmoire(["mirror", "check", "--mirror", file]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 14, stderr: "" });
    expect(stdout).toMatch(/\d+ problems in .*Restore a copy/);
  });
});

function rootPagesOf(file: string, tables: readonly string[]): number[] {
  const db = new Database(file, { readonly: true });
  const select = db.prepare<[string], number>("select rootpage from sqlite_schema where name = ?").pluck();
  const pages = tables.map((table) => select.get(table) ?? 0);
  db.close();
  return pages;
}
