/** The mirror as first released. A released migration is never edited: what changes later is a migration of its own. */
import { type Kysely, sql } from "kysely";

// Fields of the service are of type ANY: a STRICT table keeps such a value exactly as it was given, where an INTEGER
// column would round what is beyond 64 bits. Text with lone surrogates is a BLOB of UTF-16LE, since UTF-8 has no form for it.
const statements = [
  `create table _meta (key text primary key, value text not null) strict, without rowid`,

  `create table _run (
    id integer primary key,
    started_at text not null,
    ended_at text,
    mode text not null,
    scope_json text not null,
    stopped text,
    counts_json text
  ) strict`,

  `create table _resource (
    id integer primary key,
    url text not null unique,
    kind text not null,
    owner_id integer references _resource (id),
    state text not null check (state in ('due', 'held', 'failed', 'elsewhere', 'superseded', 'gone')),
    etag text,
    checked_run integer not null default 0,
    checked_at text,
    first_run integer not null references _run (id),
    gone_run integer references _run (id),
    attempts integer not null default 0,
    error text
  ) strict`,
  `create index _resource_frontier on _resource (kind, state, checked_run)`,
  `create index _resource_owner on _resource (owner_id)`,

  `create table _content (id integer primary key, sha256 blob not null, codec text not null, size integer not null, body blob not null) strict`,

  `create table _revision (
    resource_id integer not null references _resource (id),
    seq integer not null,
    content_id integer not null references _content (id),
    from_run integer not null references _run (id),
    to_run integer references _run (id),
    status integer not null,
    fetched_at text not null,
    base_url text,
    primary key (resource_id, seq)
  ) strict, without rowid`,
  `create index _revision_run on _revision (from_run)`,

  `create table _link (
    from_id integer not null references _resource (id),
    name text not null,
    kind text not null,
    to_id integer references _resource (id),
    noted_url text,
    primary key (from_id, name)
  ) strict, without rowid`,

  `create table _page (
    id integer primary key references _resource (id),
    collection_id integer not null references _resource (id),
    next_id integer references _resource (id),
    total integer
  ) strict`,
  `create index _page_collection on _page (collection_id)`,

  `create table _member (
    page_id integer not null references _page (id),
    n integer not null,
    item_id integer references _resource (id),
    name any,
    primary key (page_id, n)
  ) strict, without rowid`,
  `create index _member_item on _member (item_id)`,

  `create table _issue (
    resource_id integer not null references _resource (id),
    pointer text not null,
    code text not null,
    detail text,
    run_id integer not null references _run (id),
    primary key (resource_id, pointer, code)
  ) strict, without rowid`,

  `create table _brand (
    id integer primary key references _resource (id),
    service_url any, bra_count any, name any, slug any, default_sizing_system any, default_sizing_name any, logo any,
    twitter any, facebook any, official_url any, last_modified_at any
  ) strict`,

  `create table _model (
    id integer primary key references _resource (id),
    brand_id integer references _resource (id),
    service_url any, code any, name any, full_name any, slug any, brand_slug any, bra_count any, is_discontinued any,
    type any, official_url any, main_picture any, main_stock_picture any, last_modified_at any
  ) strict`,
  `create index _model_brand on _model (brand_id)`,

  `create table _model_picture (
    parent_id integer not null references _resource (id), n integer not null, url any, text any, primary key (parent_id, n)
  ) strict, without rowid`,

  `create table _size (
    id integer primary key references _resource (id),
    model_id integer references _resource (id),
    service_url any, size any, band any, cup any, bra_count any, main_picture any, alternative_sizes any,
    last_modified_at any
  ) strict`,
  `create index _size_model on _size (model_id)`,

  `create table _user (
    id integer primary key references _resource (id),
    username any, service_url any, user_id any, reputation any, avatar any, is_verified any, email any
  ) strict`,

  `create table _bra (
    id integer primary key references _resource (id),
    brand_id integer references _resource (id),
    model_id integer references _resource (id),
    size_id integer references _resource (id),
    service_url any, name any, brand any, model any, size any, is_owned any, is_custom any, is_altered any,
    altered_band any, hooks any, bust_perimeter any, strap_width any, cup_separation any, cup_depth any,
    wire_length any, gore_height any, wing_height any, band_length any, stretched_band_length any, note any
  ) strict`,

  `create table _bra_size (
    parent_id integer not null references _resource (id), n integer not null, system any, size any, primary key (parent_id, n)
  ) strict, without rowid`,

  `create table _measurement (
    parent_id integer not null references _resource (id), n integer not null, payload any, primary key (parent_id, n)
  ) strict, without rowid`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
