/** What runs over the service's lists knew of resources that a later run requested for the bras of an account alone. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table _linked_check (
    resource_id integer primary key references _resource (id),
    seq integer,
    checked_run integer not null,
    checked_at integer
  ) strict`,
  // Until now such a run left no trace but itself: the newest body of another run is what is certain.
  `insert into _linked_check (resource_id, seq, checked_run, checked_at)
   select r.id, v.seq, coalesce(v.from_run, 0), v.fetched_at
   from _resource r left join _revision v on v.resource_id = r.id and v.seq = (
     select max(seq) from _revision where resource_id = r.id and from_run not in (
       select id from _run where json_extract(scope_json, '$.only') is not null))
   where r.last_checked_run in (select id from _run where json_extract(scope_json, '$.only') is not null)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
