/** The mirror as first released. A released migration is never edited: later changes are migrations of their own. */
import { type Kysely, sql } from "kysely";

// Fields of the service have type ANY: a STRICT table keeps such a value as given, where an INTEGER column would round
// numbers beyond 64 bits. Text with lone surrogates is a BLOB of UTF-16LE, since UTF-8 cannot express it.
const tables = [
  `create table _meta (key text primary key, value text not null) strict, without rowid`,

  `create table _run (
    id integer primary key,
    started_at text not null,
    ended_at text,
    mode text not null,
    scope_json text not null,
    stopped text,
    counts_json text,
    coverage_json text,
    pruned_at text
  ) strict`,

  `create table _resource (
    id integer primary key,
    url text not null unique,
    kind text not null,
    owner_id integer references _resource (id),
    state text not null check (state in ('due', 'held', 'failed', 'elsewhere', 'superseded', 'gone')),
    etag text,
    checked_run integer not null default 0,
    last_checked_run integer not null default 0,
    recheck integer not null generated always as (checked_run < last_checked_run) virtual,
    fetched_run integer not null default 0,
    checked_at integer,
    first_run integer not null references _run (id),
    gone_run integer references _run (id),
    absent_run integer references _run (id),
    absent_by text check (absent_by in ('response', 'listing', 'parent')),
    attempts integer not null default 0,
    error text
  ) strict`,
  `create index _resource_frontier on _resource (kind, state, checked_run)`,
  `create index _resource_owner on _resource (owner_id)`,
  // Nearly always empty, so that looking for absent resources costs nothing.
  `create index _resource_absent on _resource (absent_by) where absent_by is not null`,

  `create table _dictionary (id integer primary key, kind text not null, sha256 blob not null, body blob not null) strict`,
  `create table _content (
    id integer primary key,
    sha256 blob not null,
    codec text not null,
    size integer not null,
    body blob not null,
    dictionary_id integer references _dictionary (id)
  ) strict`,

  `create table _headers (id integer primary key, content_type text, link text) strict`,
  `create index _headers_text on _headers (content_type, link)`,
  `create table _revision (
    resource_id integer not null references _resource (id),
    seq integer not null,
    content_id integer not null references _content (id),
    from_run integer not null references _run (id),
    to_run integer references _run (id),
    status integer not null,
    fetched_at integer not null,
    base_url text,
    sent_at integer,
    modified_at integer,
    headers_id integer references _headers (id),
    etag text,
    seen_run integer,
    seen_at integer,
    primary key (resource_id, seq)
  ) strict, without rowid`,

  `create table _link (
    from_id integer not null references _resource (id),
    name text not null,
    kind text not null,
    to_id integer references _resource (id),
    unfollowed_url text,
    from_run integer not null,
    primary key (from_id, name)
  ) strict, without rowid`,

  `create table _page (
    id integer primary key references _resource (id),
    collection_id integer not null references _resource (id),
    next_id integer references _resource (id),
    total integer,
    page_total integer,
    doubt text check (doubt in ('other-page', 'other-address'))
  ) strict`,
  `create index _page_collection on _page (collection_id)`,
  `create index _page_next on _page (next_id) where next_id is not null`,

  `create table _member (
    page_id integer not null references _page (id),
    n integer not null,
    item_id integer references _resource (id),
    name any,
    from_run integer not null,
    primary key (page_id, n)
  ) strict, without rowid`,
  `create index _member_item on _member (item_id)`,

  `create table _pass (
    collection_id integer primary key references _resource (id),
    status text not null check (status in ('open', 'partial')),
    from_run integer not null,
    reread_run integer references _run (id),
    page_versions text
  ) strict`,

  `create table _issue (
    resource_id integer not null references _resource (id),
    pointer text not null,
    code text not null,
    detail text,
    run_id integer not null references _run (id),
    primary key (resource_id, pointer, code)
  ) strict, without rowid`,

  `create table _drift (
    kind text not null,
    pointer text not null,
    code text not null check (code in ('unknown-field', 'unknown-link', 'wrong-type')),
    first_run integer not null references _run (id),
    primary key (kind, pointer, code)
  ) strict, without rowid`,

  `create table _brand (
    id integer primary key references _resource (id),
    service_url any, bra_count any, name any, slug any, default_sizing_system any, default_sizing_name any, logo any,
    twitter any, facebook any, official_url any, last_modified_at any, from_run integer not null
  ) strict`,

  `create table _model (
    id integer primary key references _resource (id),
    brand_id integer references _resource (id),
    service_url any, code any, name any, full_name any, slug any, brand_slug any, bra_count any, is_discontinued any,
    type any, official_url any, main_picture any, main_stock_picture any, last_modified_at any, from_run integer not null
  ) strict`,
  `create index _model_brand on _model (brand_id)`,

  `create table _model_picture (
    parent_id integer not null references _resource (id), n integer not null, url any, text any,
    from_run integer not null, primary key (parent_id, n)
  ) strict, without rowid`,

  `create table _size (
    id integer primary key references _resource (id),
    model_id integer references _resource (id),
    service_url any, size any, band any, cup any, bra_count any, main_picture any, alternative_sizes any,
    last_modified_at any, from_run integer not null
  ) strict`,
  `create index _size_model on _size (model_id)`,

  `create table _user (
    id integer primary key references _resource (id),
    username any, service_url any, user_id any, reputation any, avatar any, is_verified any, email any,
    from_run integer not null
  ) strict`,

  `create table _bra (
    id integer primary key references _resource (id),
    brand_id integer references _resource (id),
    model_id integer references _resource (id),
    size_id integer references _resource (id),
    service_url any, name any, brand any, model any, size any, is_owned any, is_custom any, is_altered any,
    altered_band any, hooks any, bust_perimeter any, strap_width any, cup_separation any, cup_depth any,
    wire_length any, gore_height any, wing_height any, band_length any, stretched_band_length any, note any,
    from_run integer not null
  ) strict`,

  `create table _bra_size (
    parent_id integer not null references _resource (id), n integer not null, system any, size any,
    from_run integer not null, primary key (parent_id, n)
  ) strict, without rowid`,

  `create table _measurement (
    parent_id integer not null references _resource (id), n integer not null, payload any,
    from_run integer not null, primary key (parent_id, n)
  ) strict, without rowid`,

  `create table _search (
    id integer primary key,
    resource_id integer not null references _resource (id),
    kind text not null,
    text text not null,
    from_run integer not null,
    to_run integer
  ) strict`,
  `create index _search_resource on _search (resource_id)`,
  // The text consists of words already: everything that is not ASCII is part of one, in every script.
  `create virtual table _search_index using fts5 (kind, text, content = '_search', content_rowid = 'id', tokenize = 'ascii')`,

  `create table _media (
    id integer primary key,
    url text not null unique,
    etag text,
    last_modified text,
    checked_at integer,
    error text
  ) strict`,
  // A file that the address had before stays: a picture is replaced there, not here.
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

/** Tables with earlier rows beside them, and their keys. */
const versioned: Readonly<Record<string, string>> = {
  _brand: "id",
  _model: "id",
  _size: "id",
  _user: "id",
  _bra: "id",
  _model_picture: "parent_id, n",
  _bra_size: "parent_id, n",
  _measurement: "parent_id, n",
  _link: "from_id, name",
  _member: "page_id, n",
};

const resourcePast = [
  // Without from_run: a resource is in one state after another, beginning with the run that found it.
  `create table _resource_past (
    id integer not null references _resource (id), to_run integer not null,
    kind text not null, owner_id integer, state text not null, gone_run integer,
    primary key (id, to_run)
  ) strict, without rowid`,
  // Many statements change states; this trigger records all of them. A state that no closed run has seen is not kept.
  `create trigger _resource_history after update of kind, owner_id, state, gone_run on _resource
   when (old.kind <> new.kind or old.owner_id is not new.owner_id or old.state <> new.state or old.gone_run is not new.gone_run)
     and old.first_run < (select max(id) from _run)
   begin
     insert or ignore into _resource_past (id, to_run, kind, owner_id, state, gone_run)
       values (old.id, (select max(id) from _run), old.kind, old.owner_id, old.state, old.gone_run);
   end`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(db);
  for (const [table, key] of Object.entries(versioned)) {
    const { rows: columns } = await sql<{ name: string; type: string }>`
      select name, type from pragma_table_info(${table}) where name <> 'from_run' order by cid`.execute(db);
    const declared = columns.map(({ name, type }) => `${name} ${type}`).join(", ");
    const past = `create table ${table}_past (
      ${declared}, from_run integer not null, to_run integer not null, primary key (${key}, to_run)
    ) strict, without rowid`;
    await sql.raw(past).execute(db);
  }
  for (const statement of resourcePast) await sql.raw(statement).execute(db);
}
