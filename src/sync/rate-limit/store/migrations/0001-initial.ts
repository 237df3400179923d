/** The ledger as first released. */
import { type Kysely, sql } from "kysely";

const tables = [
  `create table window (
    origin text not null,
    credential text not null,
    state text not null,
    primary key (origin, credential)
  ) strict, without rowid`,
  `create table session (
    id text primary key,
    pid integer not null,
    host text not null,
    seen_at integer not null
  ) strict, without rowid`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of tables) await sql.raw(table).execute(db);
}
