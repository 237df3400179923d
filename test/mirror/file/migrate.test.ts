import { copyFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { migrate } from "../../../src/mirror/file/migrate.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { firstKill, killStride } from "../../support/thorough.ts";
import { startChild } from "../support/children.ts";

const readAll = (file: string) => {
  const db = new Database(file, { readonly: true });
  const names = db
    .prepare("select name from sqlite_schema where type in ('table', 'index') order by name")
    .pluck()
    .all();
  const has = (name: string) => names.includes(name);
  const state = {
    names,
    applied: has("_migration") ? db.prepare("select name from _migration order by name").pluck().all() : [],
    notes: has("note") ? db.prepare("select * from note order by id").all() : [],
    tags: has("tag") ? db.prepare("select * from tag order by note_id").all() : [],
  };
  db.close();
  return state;
};

/** @returns the number of writing statements; null if it was killed */
async function migrateAndKill(file: string, killBefore: number): Promise<number | null> {
  const child = startChild("migrating-process.ts", file, String(killBefore));
  const line = await child.readLine();
  await child.end();
  return line === null ? null : Number(line);
}

it(`a process killed before a write of a migration (each ${killStride}., from ${firstKill}) leaves the file unchanged, and the next start completes it`, async () => {
  await using folder = await temporaryFolder();
  const complete = join(folder.path, "complete.sqlite");
  const writes = await migrateAndKill(complete, 0);
  expect(writes).toBeGreaterThan(8);
  const migrated = readAll(complete);
  expect(migrated).toMatchObject({
    applied: ["0001-notes", "0002-tags"],
    notes: [{ length: 3 }, { length: 3 }],
    tags: [{ name: "tag of one" }, { name: "tag of two" }],
  });
  const empty = { names: [], applied: [], notes: [], tags: [] };
  for (let n = firstKill; n <= Number(writes); n += killStride) {
    const file = join(folder.path, `killed-${n}.sqlite`);
    expect(await migrateAndKill(file, n)).toBe(null);
    expect(readAll(file)).toEqual(empty);
    copyFileSync(file, `${file}-copy`);
    expect(await migrateAndKill(file, 0)).toBe(writes);
    expect(readAll(file)).toEqual(migrated);
  }
});

it("a failing migration leaves the file unchanged", async () => {
  const db = new Database(":memory:");
  const failing = {
    "0001-fails": async () => ({
      async up() {
        db.exec("create table half (id integer primary key)");
        throw new Error("no space");
      },
    }),
  };
  await expect(migrate(db, failing)).rejects.toThrow("no space");
  expect(db.prepare("select name from sqlite_schema").all()).toEqual([]);
});
