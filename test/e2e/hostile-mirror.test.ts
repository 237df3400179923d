/** Mirror files that a stranger has changed: every command shows what the bodies say, or ends in one line with exit code 14. */
import { copyFileSync, readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectUnreadable } from "../support/canary.ts";
import { callArmoire } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** A copy of the mirror after these statements, which may write to SQLite's own tables. */
function changedMirror(...statements: readonly string[]): string {
  const file = `${fixture.newPath()}.sqlite`;
  copyFileSync(fixture.mirror, file);
  expectUnreadable(file);
  const db = new Database(file).unsafeMode();
  db.exec("pragma foreign_keys = off; pragma writable_schema = on");
  for (const statement of statements) db.exec(statement);
  db.pragma("journal_mode = delete");
  db.close();
  return file;
}

const run = (file: string, ...command: readonly string[]) =>
  callArmoire([
    ...command.map((word) => (word === "NEW" ? fixture.newPath() : word)),
    ...["--mirror", file, "--base-url", fixture.sandbox.url, "--data-dir", fixture.newPath()],
  ]);

const reading: readonly (readonly string[])[] = [
  ["status"],
  ["status", "--as-of", "1"],
  ["runs", "--all"],
  ["runs", "show", "1"],
  ["plan"],
  ["search", "a"],
  ["changes", "--since", "2020-01-01"],
  ["export", "--out", "NEW"],
  ["mirror", "check"],
];

/** Reading it fails at its first row, where a stranger would take an endless query. */
const failing = "select abs(-9223372036854775808) as href, 1 as kind, 1 as name, 1 as gone_at";

describe("public views", () => {
  it.each(["brand", "known", "size"])(
    "no command but query reads the view %s of a file, if it is not Armoire's",
    async (view) => {
      const file = changedMirror(`drop view ${view}`, `create view ${view} as ${failing}`);
      for (const command of reading)
        expect(await run(file, ...command)).toMatchObject({
          exitCode: 0,
          stdout: expect.stringMatching(/./),
        });
      const { exitCode, stderr } = await run(file, "query", `select * from ${view}`);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("integer overflow")]);
    },
  );

  it("a missing view is shown as in other mirrors, and views of the user stay", async () => {
    const file = changedMirror("drop view brand", "create view mine as select count(*) as n from _brand");
    expect((await run(file, "search", "a")).stdout).toBe((await run(fixture.mirror, "search", "a")).stdout);
    for (const asOf of [[], ["--as-of", "1"]])
      expect((await run(file, "query", "select n from mine", "--format", "csv", ...asOf)).stdout).toMatch(
        /n\s+6\s/,
      );
  });
});

describe("other definitions", () => {
  it.each<[string, string[]]>([
    [
      "a view in the place of a table",
      ["alter table _link rename to link", "create view _link as select * from link"],
    ],
    [
      "a view in the place of the list of migrations",
      ["drop table _migration", `create view _migration as ${failing}`],
    ],
    ["a table in the place of a public view", ["drop view brand", "create table BRAND (href)"]],
    ["a view in the place of a function", [`create view json_each as ${failing}`]],
    ["a further trigger", ["create trigger extra after insert on _run begin delete from _revision; end"]],
    ["an added index that lacks rows", ["create index zz on _brand (name) where name > 'M'"]],
    ["an added index that refuses rows", ["create unique index zz on _run (id > 2) where id > 2"]],
    ["another index", ["drop index _resource_owner", "create index _resource_owner on _resource (kind)"]],
    ["a missing table", ["drop table _issue"]],
  ])("%s is refused by every command, and the file is not changed", async (_what, statements) => {
    const file = changedMirror(...statements);
    const before = readFileSync(file);
    for (const command of [...reading, ["sync"], ["mirror", "rebuild"], ["mirror", "compact"]])
      expectRefusal(
        await run(file, ...command),
        14,
        /The tables, indexes or triggers of this mirror are not as Armoire makes them: /,
      );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it.each(["_size(id)", "_revision", "BRAND(href)"])(
    "a table that refers to one of Armoire is refused: its triggers would run with deletions (%s)",
    async (target) => {
      const file = changedMirror(
        `create table added (p references ${target} on delete cascade)`,
        "create trigger changing after delete on added begin update _resource set checked_at = 0; end",
      );
      const before = readFileSync(file);
      for (const command of [["status"], ["sync"], ["mirror", "rebuild"], ["mirror", "compact"]])
        expectRefusal(await run(file, ...command), 14, /are not as Armoire makes them: /);
      expect(readFileSync(file).equals(before)).toBe(true);
    },
  );

  it("tables, their indexes, and views that a user has added are accepted", async () => {
    const file = changedMirror(
      "create table notes (href unique, note)",
      "create table replies (href references notes (href), text)",
      "create index notes_of on notes (href)",
      "create view noted as select * from brand join notes using (href)",
    );
    expect(await run(file, "status")).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await run(file, "mirror", "check")).exitCode).toBe(0);
    expect((await run(file, "sync")).exitCode).toBe(0);
  });
});

describe("values", () => {
  it.each([
    "update _run set started_at = 'x'",
    "update _run set ended_at = '2026-13-01T00:00:00.000Z'",
    "update _run set stopped = char(27) || '[31m'",
    "update _run set mode = 'full' || char(10)",
    "update _run set pruned_at = 'never'",
    "update _run set counts_json = '{'",
    "update _run set scope_json = '{'",
    "insert or replace into _meta values ('followed_links', '{')",
    "insert or replace into _meta values ('followed_links', '{\"related\":\"x\"}')",
    "insert or replace into _meta values ('approved_empty_lists', '[]')",
    "insert or replace into _meta values ('cycle_run', 'x')",
    "update _meta set value = replace(value, '//', '//u:pw@') where key = 'base_url'",
    "update _meta set value = value || char(27) || '[31m' where key = 'base_url'",
    "update _meta set value = value || '?token=x' where key = 'base_url'",
    "update _meta set value = 'javascript:alert(1)' where key = 'base_url'",
    "update _meta set value = 'a'';drop table x--' where key = 'service_name'",
    "update _run set id = 9223372036854775807",
    "update _run set id = 9007199254740993",
    "update _run set id = -5",
  ])("%s: every command ends with exit code 14, and names the mirror and the place", async (statement) => {
    const file = changedMirror(statement);
    for (const command of [...reading, ["sync"]])
      expectRefusal(
        await run(file, ...command),
        14,
        /^armoire: The mirror is damaged \(\w+ (in _meta|-?\d+)\): .*sqlite\n/,
      );
  });

  it.each([
    ["counts_json", "null", ["status", "runs"]],
    ["counts_json", '{"requests":5,"resources":7}', ["status", "runs"]],
    ["scope_json", "7", ["status", "runs"]],
    ["coverage_json", "{", ["status", "export", "status --as-of 1"]],
    ["coverage_json", "{}", ["status", "export", "status --as-of 1"]],
    ["coverage_json", '[{"kind":5}]', ["status", "export", "status --as-of 1"]],
  ])("%s of a run with other JSON, %s, is damage where it is read", async (column, value, commands) => {
    const file = changedMirror(`update _run set ${column} = '${value}'`);
    for (const words of commands) {
      const command = words === "export" ? ["export", "--out", "NEW"] : words.split(" ");
      const { exitCode, stderr } = await run(file, ...command);
      expect([exitCode, stderr]).toEqual([
        14,
        expect.stringMatching(/The mirror is damaged \(_run 1\): .*sqlite\n/),
      ]);
      expect(stderr).not.toContain("unexpected");
    }
  });

  it("a check shows control characters of a file escaped", async () => {
    const file = changedMirror("update _content set codec = char(27) || '[31m' where id = 1");
    const { exitCode, stdout } = await run(file, "mirror", "check");
    expect([exitCode, stdout]).toEqual([14, expect.stringContaining('unknown codec "')]);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("what is derived from bodies, or kept by SQLite", () => {
  it.each([
    "update _search_index_config set v = 99",
    "delete from _search_index_config",
    "update _search_index_data set block = x'00ff'",
    "delete from _search_index_data",
    "update _search set text = 'other'",
  ])("%s: a rebuild repairs the search index", async (statement) => {
    const file = changedMirror(statement);
    expect((await run(file, "mirror", "check")).exitCode).toBe(14);
    expect((await run(file, "mirror", "rebuild")).exitCode).toBe(0);
    expect((await run(file, "mirror", "check")).exitCode).toBe(0);
    expect((await run(file, "search", "a")).stdout).toBe((await run(fixture.mirror, "search", "a")).stdout);
  });

  it.each([
    "update _dictionary set body = x'00'",
    "update _dictionary set kind = char(27) || 'x'",
    "insert into _brand_past (id, name, from_run, to_run) values (999999, char(27) || '[31m', 0, 9)",
    "insert into _resource_past (id, to_run, kind, owner_id, state) select id, 5, 'x', id, 'odd' from _resource",
    "insert into _link_past (from_id, name, kind, to_id, from_run, to_run) select id, 'x', 'y', 99999, -5, 9 from _resource limit 1",
    "analyze; update sqlite_stat1 set stat = '99999999999999999999 0 0 -1'",
    "analyze; insert into sqlite_stat1 values ('_resource', 'nothing', char(27))",
    "update _search_index_config set v = 99",
    "update _search_index_data set block = x'00ff'",
    "delete from _search_index_data",
    "update _search set text = char(27) || '[31m a'",
  ])("%s: every command answers, or ends with exit code 14 in one line", async (statements) => {
    const file = changedMirror(...statements.split("; "));
    for (const command of [...reading, ["query", "select * from brand"], ["mirror", "rebuild"]]) {
      const { exitCode, stdout, stderr } = await run(file, ...command);
      expect([0, 14], `${command.join(" ")}: ${stderr}`).toContain(exitCode);
      expect(stdout + stderr).not.toContain("\u001b");
      expect(stderr).not.toMatch(/This is unexpected|\n {2,}at /);
    }
  });
});
