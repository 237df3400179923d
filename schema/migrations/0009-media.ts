/** Pictures that a user's data refers to: where they are, what was downloaded, and what refers to them. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table _media (
    id integer primary key,
    url text not null unique,
    etag text,
    last_modified text,
    checked_at integer,
    error text
  ) strict`,
  // What an address had before stays: a picture is replaced there, and not here.
  `create table _media_file (
    media_id integer not null references _media (id),
    seq integer not null,
    sha256 blob not null,
    type text not null,
    size integer not null,
    fetched_at integer not null,
    primary key (media_id, seq)
  ) strict, without rowid`,
  `create table _media_use (
    resource_id integer not null references _resource (id),
    field text not null,
    media_id integer not null references _media (id),
    is_current integer not null,
    primary key (resource_id, field, media_id)
  ) strict, without rowid`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
