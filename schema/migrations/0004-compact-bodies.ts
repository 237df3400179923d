/** Bodies that are stored compressed, and the dictionaries without which some of them cannot be read. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table _dictionary (id integer primary key, kind text not null, sha256 blob not null, body blob not null) strict`,
  `alter table _content add column dictionary_id integer references _dictionary (id)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
