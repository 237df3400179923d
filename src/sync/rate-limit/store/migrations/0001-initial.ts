/** The ledger as first released. */
import { type Kysely, sql } from "kysely";

// A ledger that was written before there were migrations has these tables already.
const tables = [
  `create table if not exists window (
    origin text not null,
    credential text not null,
    state text not null,
    primary key (origin, credential)
  ) strict, without rowid`,
  `create table if not exists session (
    id text primary key,
    pid integer not null,
    host text not null,
    seen_at integer not null
  ) strict, without rowid`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of tables) await sql.raw(table).execute(db);
}
