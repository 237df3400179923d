/** Which run fetched a resource last, apart from those that only found it unchanged: a full cycle fetches what was not since it began. */
import { type Kysely, sql } from "kysely";

const statements = [
  `alter table _resource add column fetched_run integer not null default 0`,
  `update _resource set fetched_run = abs(checked_run)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
