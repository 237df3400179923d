/** What can be searched: the words of names and codes, as they are and as they were, and the full-text index over them. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table _search (
    id integer primary key,
    resource_id integer not null references _resource (id),
    kind text not null,
    text text not null,
    from_run integer not null,
    to_run integer
  ) strict`,
  `create index _search_resource on _search (resource_id)`,
  // The text is made of words already: whatever is not ASCII is part of one, in every script and every version of Unicode.
  `create virtual table _search_index using fts5 (kind, text, content = '_search', content_rowid = 'id', tokenize = 'ascii')`,
  // The words are in the rows, which only the program can make words of.
  `insert or ignore into _meta (key, value)
     select 'rebuild_due', '0006-search' where exists (select 1 from _revision)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
