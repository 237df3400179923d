/** `migrating.ts FILE`: applies migrations of the test's own to a file, as opening a mirror for writing does. */
import { type Kysely, sql } from "kysely";
import { closeWritten, openForWriting } from "../../src/mirror/file/connection.ts";
import { migrate } from "../../src/mirror/file/migrate.ts";

const [file = ""] = process.argv.slice(2);
const execute = async (db: Kysely<unknown>, statements: readonly string[]) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

const migrations = {
  "0001-notes": async () => ({
    up: (db: Kysely<unknown>) =>
      execute(db, [
        "create table note (id integer primary key, text text not null) strict",
        "insert into note (text) with recursive n (n) as (select 1 union all select n + 1 from n where n < 500) select 'note ' || n from n",
      ]),
  }),
  "0002-lengths": async () => ({
    up: (db: Kysely<unknown>) =>
      execute(db, [
        "alter table note add column length integer",
        "update note set length = length(text)",
        "create index note_length on note (length)",
      ]),
  }),
};

try {
  const db = openForWriting(file, { isPrivate: false });
  try {
    await migrate(db, migrations);
  } finally {
    closeWritten(db);
  }
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
}
