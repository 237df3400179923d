/** The values that SQLite keeps on several pages, read from files that SQLite wrote. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { UnreadableContentError } from "../../src/doctor/encoded-contents.ts";
import { findSecrets } from "../../src/doctor/find-secrets.ts";
import { readLongValues } from "../../src/doctor/long-values.ts";
import { hideSecret } from "../../src/service/credentials/credential.ts";
import { expectUnreadable } from "../support/canary.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { tries } from "../support/thorough.ts";

const secret = "planted passphrase 0123456789";

async function startFolder(): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  return folder.path;
}

const valuesIn = (file: string): string => Buffer.concat([...readLongValues(file)]).toString("latin1");

/** Texts that differ in each place, so that no part of one can be taken for another. */
const textOf = (length: number, seed: number): string => {
  let text = "";
  for (let n = 0; text.length < length; n++) text += `${seed}:${n};`;
  return text.slice(0, length);
};

const tables = {
  "a table": "create table t (id integer primary key, a, b)",
  "a table without row IDs": "create table t (id integer primary key, a, b) without rowid",
  "a table with an index": "create table t (id integer primary key, a, b); create index i on t (b, a)",
};

it.each(Object.entries(tables))(
  "each value that is longer than a page is read in one piece: %s",
  async (_, sql) => {
    const folder = await startFolder();
    let files = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(512, 1024, 4096, 65_536),
        fc.constantFrom("delete", "wal"),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 6000 }), fc.integer({ min: 0, max: 200_000 })), {
          minLength: 1,
          maxLength: 12,
        }),
        (pageSize, journal, lengths) => {
          const file = join(folder, `${files++}.sqlite`);
          const db = new Database(file);
          db.pragma(`page_size = ${pageSize}`);
          db.pragma(`journal_mode = ${journal}`);
          db.exec(sql);
          const insert = db.prepare("insert into t values (?, ?, ?)");
          const rows = lengths.map(([a, b], n) => [textOf(a, 2 * n), textOf(b, 2 * n + 1)]);
          db.transaction(() => {
            for (const [n, row] of rows.entries()) insert.run(n, ...row);
          })();
          // Not moved into the database yet.
          const values = [file, `${file}-wal`]
            .filter((path) => existsSync(path))
            .map(valuesIn)
            .join("");
          db.close();
          for (const text of rows.flat())
            if (text.length > pageSize) expect(values.includes(text)).toBe(true);
        },
      ),
      { numRuns: tries(20, 500) },
    );
  },
);

it("a secret across the end of a page is found, in a database and in its log", async () => {
  const folder = await startFolder();
  const file = join(folder, "a.sqlite");
  const db = new Database(file);
  db.pragma("journal_mode = wal");
  db.pragma("secure_delete = on");
  db.exec("create table t (text)");
  const secrets = [{ label: "planted", credential: hideSecret(secret), places: [] }];
  const find = async () => (await findSecrets([folder], secrets)).found.map((found) => found.file);
  // Until the end of a page is in the secret: the ends depend on the length of the whole text.
  for (let before = 0; before === 0 || readFileSync(`${file}-wal`).includes(secret); before += 8) {
    if (before > 8192) throw new Error("No end of a page is in the secret");
    db.exec("delete from t");
    db.pragma("wal_checkpoint(truncate)");
    db.prepare("insert into t values (?)").run(
      `${"x".repeat(before)}${secret}${"y".repeat(20_000 - before)}`,
    );
  }
  expect(await find()).toEqual([`${file}-wal`]);
  db.pragma("wal_checkpoint(truncate)");
  expect(readFileSync(file).includes(secret)).toBe(false);
  expect(await find()).toEqual([file]);
  db.close();
});

it("a log that began again, or has many states of a page, has all of its last values", async () => {
  const file = join(await startFolder(), "a.sqlite");
  const db = new Database(file);
  db.pragma("journal_mode = wal");
  db.pragma("wal_autocheckpoint = 0");
  db.exec("create table t (id integer primary key, text)");
  const insert = db.prepare("insert into t (text) values (?)");
  for (let n = 0; n < 300; n++) insert.run(textOf(20_000, n));
  db.exec("delete from t");
  // The log begins again, before its former frames, with the same pages.
  db.pragma("wal_checkpoint(restart)");
  insert.run(textOf(200_000, 1000));
  for (let n = 0; n < 400; n++) insert.run("short");
  insert.run(textOf(12_000, 1001));
  const values = valuesIn(`${file}-wal`);
  for (const text of [textOf(200_000, 1000), textOf(12_000, 1001), textOf(20_000, 299)])
    expect(values.includes(text)).toBe(true);
  db.close();
});

it("a forged page with many pointers to overlapping cells gives no more than its own bytes", async () => {
  const file = join(await startFolder(), "forged.sqlite");
  const db = new Database(file);
  db.exec("create table t (text)");
  db.prepare("insert into t values (?)").run(textOf(20_000, 1));
  db.close();
  const bytes = readFileSync(file);
  const page = bytes.subarray(4096, 8192);
  const cell = page.readUInt16BE(8);
  page.writeUInt16BE(1000, 3);
  for (let n = 0; n < 1000; n++) page.writeUInt16BE(cell + (n % 2 === 0 ? 0 : 1), 8 + 2 * n);
  writeFileSync(file, bytes);
  expectUnreadable(file);
  expect(valuesIn(file).length).toBeLessThan(3 * bytes.length);
});

it("any bytes are read to an end", async () => {
  const folder = await startFolder();
  const file = join(folder, "forged.sqlite");
  const db = new Database(file);
  db.pragma("page_size = 512");
  db.exec("create table t (text)");
  db.prepare("insert into t values (?)").run(textOf(20_000, 1));
  db.close();
  const bytes = readFileSync(file);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 40 }),
      fc.nat(bytes.length),
      (changes, length) => {
        const forged = Buffer.from(bytes);
        for (const [place, value] of changes) forged[place] = value;
        writeFileSync(file, forged.subarray(0, length));
        let read = 0;
        try {
          for (const piece of readLongValues(file)) read += piece.length;
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableContentError);
        }
        expect(read).toBeLessThan(10 * bytes.length);
      },
    ),
    { numRuns: tries(200, 10_000) },
  );
  // It cannot be searched for the secrets of the tests.
  rmSync(file);
});
