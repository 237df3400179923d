import { copyFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { openDiff } from "../../../src/change/open-diff.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { readMirror } from "../../../src/mirror/reader.ts";
import { readPastStatus, readStatus } from "../../../src/query/status/status.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { planSync } from "../../../src/sync/plan/preview.ts";
import { sync } from "../../../src/sync/sync.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { firstKill, killStride } from "../../support/thorough.ts";
import { startChild } from "../support/children.ts";

const folder = await temporaryFolder();
const sandbox = await startSandbox({ brands: 3, models: 6, sizes: 12 });
const current = join(folder.path, "catalogue.sqlite");
await sync({ file: current, baseUrl: sandbox.url });
const older = join(folder.path, "older.sqlite");
copyFileSync(current, older);
undoMigration(older);
const beforeLast = join(folder.path, "before-last.sqlite");
copyFileSync(current, beforeLast);
undoLastMigrations(beforeLast);
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

/** Makes the mirror one that the first version has written. */
function undoMigration(file: string): void {
  const db = new Database(file);
  const views = db
    .prepare<[], { name: string; sql: string }>(
      "select name, sql from sqlite_schema where type = 'view' order by rowid",
    )
    .all();
  for (const { name } of views) db.exec(`drop view ${name}`);
  db.exec("drop index _resource_postponed; drop index _model_worth; drop index _size_worth");
  db.exec("alter table _resource drop column retry_at");
  db.exec("drop table _loaded; drop table _snapshot; drop table _linked_check");
  db.exec("delete from _migration where name > '0001-initial'");
  for (const { sql } of views) db.exec(sql.replace(/, nullif\(.* as confirmed/s, ""));
  db.close();
}

/** Makes the mirror one of the version before `0004-linked-checks`, whose only run was for the bras of an account. */
function undoLastMigrations(file: string): void {
  const db = new Database(file);
  db.exec(`drop table _linked_check; drop index _model_worth; drop index _size_worth;
    delete from _migration where name > '0003-snapshots';
    update _run set scope_json = '{"only":["model"]}'`);
  db.close();
}

const schemaOf = (file: string) => {
  const db = new Database(file, { readonly: true });
  const rows = db.prepare("select type, name, sql from sqlite_schema order by type, name").all();
  const resources = db.prepare("select id, url, state from _resource order by id").all();
  const isLinked = rows.some((row) => (row as { name: string }).name === "_linked_check");
  const linked = isLinked ? db.prepare("select * from _linked_check order by resource_id").all() : [];
  db.close();
  return { rows, resources, linked };
};

it("a mirror that an earlier version has written can be read, also as of a run, and planned", () => {
  const { mirror: _, fileBytes: __, ...expected } = readMirror(current, readStatus);
  expect(readMirror(older, readStatus)).toMatchObject(expected);
  const past = (file: string) => readMirror(file, readPastStatus, { kind: "run", run: 1 });
  expect(past(older).kinds).toEqual(past(current).kinds);
  const plan = (file: string) => planSync({ file, baseUrl: sandbox.url }).due;
  expect(plan(older)).toEqual(plan(current));
});

it("a mirror that an earlier version has written can be compared with another file", async () => {
  const opened = await openDiff({
    from: { kind: "mirror", path: current },
    to: { kind: "mirror", path: older },
  });
  expect([...opened.changes]).toEqual([]);
  opened.close();
});

it.each([
  ["migrations", older, 12],
  ["last migrations", beforeLast, 8],
])(
  `a process killed before a write of the %s (each ${killStride}., from ${firstKill}) leaves the mirror as it was, and the next start completes it`,
  async (title, start, most) => {
    const run = async (file: string, killBefore: number) => {
      const child = startChild("migrating-process.ts", file, String(killBefore), "mirror");
      const line = await child.readLine();
      await child.end();
      return line;
    };
    const copyOf = (name: string) => {
      const copy = join(folder.path, `${title} ${name}`);
      copyFileSync(start, copy);
      return copy;
    };
    const complete = copyOf("complete.sqlite");
    const writes = Number(await run(complete, 0));
    expect(writes).toBeGreaterThan(3);
    const migrated = schemaOf(complete);
    expect(migrated.linked.length > 0).toBe(start === beforeLast);
    expect(migrated.resources).toEqual(schemaOf(start).resources);
    const before = schemaOf(start);
    // The views come after the migration's transaction, in one of their own.
    for (let n = firstKill; n <= Math.min(writes, most); n += killStride) {
      const file = copyOf(`killed-${n}.sqlite`);
      expect(await run(file, n)).toBe(null);
      const { rows, resources } = schemaOf(file);
      expect(resources).toEqual(before.resources);
      const tables = (all: readonly unknown[]) =>
        all.filter((row) => (row as { type: string }).type === "table");
      expect([before.rows, migrated.rows].map(tables)).toContainEqual(tables(rows));
      await run(file, 0);
      expect(schemaOf(file)).toEqual(migrated);
    }
  },
);

it("a sync migrates the mirror of an earlier version and loses nothing", async () => {
  const file = join(folder.path, "synced.sqlite");
  copyFileSync(older, file);
  const report = await sync({ file, baseUrl: sandbox.url });
  expect(report).toMatchObject({ complete: true, resources: { new: 0, changed: 0, gone: 0 } });
  expect(readMirror(file, (mirror) => checkMirror(mirror, kinds)).problems).toEqual([]);
});
