/**
 * Removes what a condemned snapshot brought and the service has not confirmed by bytes: bodies, rows, and resources to
 * which nothing else leads. Where the service had sent an older body, that one counts again. Raw SQL: sets of rows of many
 * tables.
 */
import type { Area } from "../../../schema/kind.ts";
import { restartCompression } from "../bodies/background-compression.ts";
import { markDictionariesStale } from "../bodies/dictionaries.ts";
import type { DeriveContext } from "../derive/derive.ts";
import { rebuildProjections } from "../derive/rebuild.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";

interface Removal {
  readonly area: Area;
  readonly context: DeriveContext;
  /** Called in the transaction of the removal. */
  readonly afterwards: () => void;
}

/** Call it outside a transaction. @returns the number of removed bodies */
export function removeCondemned(db: Connection, { area, context, afterwards }: Removal): number {
  const isAny = db.prepare(`select 1 from _snapshot where condemned_at is not null limit 1`).get();
  if (isAny === undefined) return 0;
  const removed = db.prepare<[], number>(`select count(*) from (${selectCondemned})`).pluck().get() ?? 0;
  if (removed === 0) return 0;
  // For each deleted row, SQLite would scan tables that refer to it; all references are checked at the end.
  db.pragma("foreign_keys = off");
  try {
    db.transaction(() => {
      db.exec(removeBodies);
      rebuildProjections(db, area, context);
      db.exec(removeUnreachable);
      restartCompression(db);
      markDictionariesStale(db);
      afterwards();
      const [dangling] = db.pragma("foreign_key_check") as { table: string }[];
      if (dangling !== undefined) throw new Error(`a row of ${dangling.table} lost what it refers to`);
    }).immediate();
  } finally {
    db.pragma("foreign_keys = on");
  }
  return removed;
}

/** A snapshot that the service has contradicted. */
export interface CondemnedSnapshot {
  /** The name of its file, or its URL. */
  readonly source: string;
  /** The resource with another body under the same tag. */
  readonly url: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** The last one first. */
export function readCondemned(db: Connection): CondemnedSnapshot[] {
  return prepare(db, () =>
    q
      .selectFrom("_snapshot")
      .select((eb) => [
        "source",
        eb.ref("condemned_by").$notNull().as("url"),
        eb.ref("condemned_at").$notNull().as("at"),
      ])
      .where("condemned_at", "is not", null)
      .orderBy("condemned_at", "desc")
      .orderBy("id", "desc"),
  ).all();
}

const selectCondemned = `
  select l.resource_id, l.seq from _loaded l join _snapshot s on s.id = l.snapshot_id
  where s.condemned_at is not null and l.bytes_run is null`;

const hasRevision = (id: string) => `exists (select 1 from _revision v where v.resource_id = ${id})`;
const isNewest = `v.seq = (select max(n.seq) from _revision n where n.resource_id = v.resource_id)`;

/** Afterwards, each resource is in the state before the snapshot was loaded, or was never fetched. */
const removeBodies = `
  create temp table _condemned (resource_id integer, seq integer, content_id integer, from_run integer, was_newest integer,
    primary key (resource_id, seq)) without rowid;
  insert into temp._condemned
    select v.resource_id, v.seq, v.content_id, v.from_run, ${isNewest} from _revision v
    where (v.resource_id, v.seq) in (${selectCondemned});
  -- The resources that lose their newest body, and the pages that were left because a page before them had that body.
  create temp table _restored (id integer primary key);
  insert into temp._restored
    select resource_id from temp._condemned where was_newest
    union select r.id from _resource r join _page p on p.id = r.id
    join _page o on o.collection_id = p.collection_id
    join temp._condemned c on c.resource_id = o.id and c.was_newest and c.from_run = r.gone_run
    where r.state = 'superseded';
  delete from _loaded where (resource_id, seq) in (select resource_id, seq from temp._condemned);
  delete from _revision where (resource_id, seq) in (select resource_id, seq from temp._condemned);
  update _linked_check set seq = null where (resource_id, seq) in (select resource_id, seq from temp._condemned);
  delete from _content where id in (select content_id from temp._condemned)
    and id not in (select content_id from _revision);
  delete from _headers where id not in (select headers_id from _revision where headers_id is not null);

  update _revision set to_run = (
    select min(n.from_run) from _revision n where n.resource_id = _revision.resource_id and n.seq > _revision.seq)
  where to_run is not null and resource_id in (select resource_id from temp._condemned)
    and exists (select 1 from temp._condemned c where c.resource_id = _revision.resource_id and c.seq = _revision.seq + 1)
    and exists (select 1 from _revision n where n.resource_id = _revision.resource_id and n.seq > _revision.seq);
  update _resource set state = 'held', etag = v.etag, checked_run = coalesce(v.seen_run, v.from_run),
    last_checked_run = coalesce(v.seen_run, v.from_run), fetched_run = v.from_run,
    checked_at = coalesce(v.seen_at, v.fetched_at), gone_run = null, absent_run = null, absent_by = null
  from _revision v
  where v.resource_id = _resource.id and ${isNewest}
    and _resource.id in (select id from temp._restored);
  update _revision set to_run = null, etag = null, seen_run = null, seen_at = null
  where resource_id in (select id from temp._restored)
    and seq = (select max(n.seq) from _revision n where n.resource_id = _revision.resource_id);
  update _resource set state = 'due', etag = null, checked_run = 0, last_checked_run = 0, fetched_run = 0, checked_at = null,
    gone_run = null, absent_run = null, absent_by = null, attempts = 0, error = null, retry_at = null
  where id in (select id from temp._restored) and not ${hasRevision("_resource.id")};
  update _page set next_id = null, total = null, page_total = null, doubt = null
  where id in (select resource_id from temp._condemned) and not ${hasRevision("_page.id")};
  delete from _pass where collection_id in (
    select p.collection_id from _page p where p.id in (select resource_id from temp._condemned));
  delete from _issue where resource_id in (select resource_id from temp._condemned)
    and not ${hasRevision("_issue.resource_id")};
  delete from _resource_past where id in (select resource_id from temp._condemned) and not ${hasRevision("_resource_past.id")};
  drop table temp._condemned;
  drop table temp._restored;
`;

const removeUnreachable = `
  create temp table _reachable (id integer primary key);
  insert into temp._reachable
    with recursive reachable (id) as (
      select id from _resource r where kind = 'root' or ${hasRevision("r.id")}
      union select to_id from _link where to_id is not null
      union select to_id from _link_past where to_id is not null
      union select item_id from _member where item_id is not null
      union select item_id from _member_past where item_id is not null
      union select next_id from _page where next_id is not null
    ), kept (id) as (
      select id from reachable
      union select r.owner_id from kept join _resource r on r.id = kept.id where r.owner_id is not null
      union select p.collection_id from kept join _page p on p.id = kept.id
    ) select id from kept;
  delete from _page where id not in (select id from temp._reachable);
  delete from _pass where collection_id not in (select id from temp._reachable);
  delete from _issue where resource_id not in (select id from temp._reachable);
  delete from _linked_check where resource_id not in (select id from temp._reachable);
  delete from _resource_past where id not in (select id from temp._reachable);
  delete from _resource where id not in (select id from temp._reachable);
  drop table temp._reachable;
`;
