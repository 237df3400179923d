/** What is known of absence: noted at each resource before it is decided, and readings of lists that leave something open. */
import { type Kysely, sql } from "kysely";

const statements = [
  `alter table _resource add column absent_run integer references _run (id)`,
  `alter table _resource add column absent_by text check (absent_by in ('answer', 'listing', 'parent'))`,
  // Nearly always empty, so that asking whether anything is noted costs nothing.
  `create index _resource_absent on _resource (absent_by) where absent_by is not null`,

  `create index _page_next on _page (next_id) where next_id is not null`,

  `create table _pass (
    collection_id integer primary key references _resource (id),
    verdict text not null check (verdict in ('open', 'partial')),
    from_run integer not null,
    reread_run integer references _run (id),
    judged text
  ) strict`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
