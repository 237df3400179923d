/** What was loaded from shared snapshots, and how far the service has confirmed it. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table _snapshot (
    id integer primary key,
    root_hash text not null unique,
    taken_on text not null,
    seen_by text not null check (seen_by in ('none', 'app', 'token')),
    source text not null,
    signed_by text,
    sequence integer,
    validators text not null default 'used' check (validators in ('used', 'withheld')),
    sample_seed text,
    sample_size integer not null default 0,
    condemned_at text,
    condemned_by text
  ) strict`,
  // Of loaded revisions only, so that a mirror without snapshots stays as small and as fast as it was.
  `create table _loaded (
    resource_id integer not null,
    seq integer not null,
    snapshot_id integer not null references _snapshot (id),
    etag text,
    sampled integer not null default 0 check (sampled in (0, 1)),
    validator_run integer,
    bytes_run integer,
    primary key (resource_id, seq),
    foreign key (resource_id, seq) references _revision (resource_id, seq) on delete cascade
  ) strict, without rowid`,
  `create index _loaded_snapshot on _loaded (snapshot_id)`,
  `create index _loaded_sample on _loaded (sampled) where sampled = 1 and bytes_run is null`,
  `create index _loaded_unconfirmed on _loaded (resource_id) where validator_run is null and bytes_run is null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
