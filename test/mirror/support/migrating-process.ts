/**
 * A process that applies test migrations to a file and kills itself before the N-th writing statement:
 * `migrating-process.ts FILE N`. If N is 0 it prints the number of these statements. With `mirror` as third argument it
 * migrates a mirror instead.
 */
import { writeSync } from "node:fs";
import Database from "better-sqlite3";
import { type Kysely, sql } from "kysely";
import { migrate, migrateMirror } from "../../../src/mirror/file/migrate.ts";

const [file = "", n = "", subject = "notes"] = process.argv.slice(2);
const killBefore = Number(n);
let writes = 0;

const execute = async (db: Kysely<unknown>, statements: readonly string[]) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const migrations = {
  "0001-notes": async () => ({
    up: (db: Kysely<unknown>) =>
      execute(db, [
        "create table note (id integer primary key, text text not null) strict",
        "insert into note (text) values ('one'), ('two')",
      ]),
  }),
  "0002-tags": async () => ({
    up: (db: Kysely<unknown>) =>
      execute(db, [
        "create table tag (note_id integer not null references note (id), name text not null) strict",
        "insert into tag (note_id, name) select id, 'tag of ' || text from note",
        "alter table note add column length integer",
        "update note set length = length(text)",
        "create index tag_note on tag (note_id)",
      ]),
  }),
};

const countWrite = (text: string) => {
  if (/^\s*(select|pragma)\b/i.test(text)) return;
  if (++writes === killBefore) process.kill(process.pid, "SIGKILL");
};
const { exec, prepare } = Database.prototype;
Database.prototype.exec = function (this: Database.Database, text: string) {
  countWrite(text);
  return exec.call(this, text);
};
Database.prototype.prepare = function (this: Database.Database, text: string) {
  const statement = prepare.call(this, text);
  for (const method of ["run", "all"] as const) {
    const original = statement[method] as (...values: unknown[]) => unknown;
    Object.defineProperty(statement, method, {
      value: (...values: unknown[]) => {
        countWrite(text);
        return original.apply(statement, values);
      },
    });
  }
  return statement;
} as typeof prepare;

const db = new Database(file);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
await (subject === "mirror" ? migrateMirror(db) : migrate(db, migrations));
db.close();
writeSync(1, `${writes}\n`);
