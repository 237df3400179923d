/** Where the values of a resource come from: the request that returned them, and the list that led to the resource. */
import { sql } from "kysely";
import type { AbsenceProof } from "../../schema/tables.ts";
import { lastEtagSql } from "../mirror/absence/absences.ts";
import { prepareReadProvenBody, storedBodyColumns } from "../mirror/bodies/read-body.ts";
import { DamagedValueError } from "../mirror/file/errors.ts";
import { prepare } from "../mirror/file/statements.ts";
import { isoTime, q } from "../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { type FieldChange, readHistory } from "./history.ts";
import type { ShownKind } from "./keys/find-by-key.ts";
import { findResource } from "./keys/resolve-key.ts";

/** How it is known that a resource is gone; `snapshot`: from a shared snapshot alone. */
export type GoneProof = AbsenceProof | "snapshot";

/** Where a resource comes from: the response whose body is shown, and its headers. */
export interface Provenance {
  /** The requested URL. */
  readonly url: string;
  /** The URL that redirects led to; null without redirects. */
  readonly redirectedTo: string | null;
  /** The run that fetched it. */
  readonly run: number;
  /** Counted from 1. */
  readonly revision: number;
  /** ISO 8601, UTC. */
  readonly fetchedAt: string;
  /** Of HTTP. */
  readonly status: number;
  /** The last one; null if missing, as the other headers, which are of this response. */
  readonly etag: string | null;
  /** ISO 8601, UTC, as `modifiedAt`. */
  readonly sentAt: string | null;
  readonly modifiedAt: string | null;
  /** The `Content-Type` as sent. */
  readonly contentType: string | null;
  readonly link: string | null;
  /** ISO 8601, UTC; null as of a point after which it was checked again. */
  readonly checkedAt: string | null;
  /** Null while it exists. `run` is the one that found it gone, and `at` its start, ISO 8601, UTC. */
  readonly gone: {
    readonly run: number;
    readonly at: string;
    /** Null as of a point after which it was checked again. */
    readonly proof: GoneProof | null;
  } | null;
  /**
   * The pages of its owner's list that name it, or that named it last if it is gone. Without any, the first page of another
   * list, or the first resource with a link to it and the link's name.
   */
  readonly foundIn: readonly { readonly url: string; readonly link: string | null }[];
}

export interface LastChange {
  /** The number of the run that found it. */
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly changes: readonly FieldChange[];
}

/** @param href of a resource with a body */
export function readProvenance({ db }: MirrorReader, href: string): Provenance {
  const found = prepare(db, (p: { href: string }) =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_revision as v", "v.resource_id", "r.id")
      .leftJoin("_headers as h", "h.id", "v.headers_id")
      .leftJoin("_run as g", "g.id", "r.gone_run")
      .select([
        "r.id",
        "r.gone_run as goneRun",
        "g.started_at as goneAt",
        sql<GoneProof | null>`${sql.raw(goneProofSql)}`.as("proof"),
        "v.base_url as redirectedTo",
        "v.from_run as run",
        "v.seq as revision",
        "v.status",
        sql<string | null>`${sql.raw(lastEtagSql)}`.as("etag"),
        "h.content_type as contentType",
        "h.link",
      ])
      .select([
        isoTime<string>("v.fetched_at").as("fetchedAt"),
        isoTime<string | null>("v.sent_at").as("sentAt"),
        isoTime<string | null>("v.modified_at").as("modifiedAt"),
        isoTime<string | null>("r.checked_at").as("checkedAt"),
      ])
      .where("r.url", "=", p.href)
      .orderBy("v.seq", "desc")
      .limit(1),
  ).get({ href });
  if (found === undefined) throw new DamagedValueError(`${href} has a row, but no revision`);
  const { id, goneRun, goneAt, proof, ...source } = found;
  const gone = goneRun === null || goneAt === null ? null : { run: goneRun, at: goneAt, proof };
  const pages = prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_member as m")
      .innerJoin("_resource as page", "page.id", "m.page_id")
      .innerJoin("_page as p", "p.id", "m.page_id")
      .innerJoin("_resource as r", "r.id", "m.item_id")
      .select(["page.url", sql<0 | 1>`p.collection_id is r.owner_id`.as("isOwners")])
      .distinct()
      .where("m.item_id", "=", p.id)
      .orderBy("page.id"),
  ).all({ id });
  const owners = pages.filter(({ isOwners }) => isOwners === 1);
  const listed = (owners.length > 0 ? owners : pages.slice(0, 1)).map(({ url: page }) => ({
    url: page,
    link: null,
  }));
  const named = listed.length > 0 || gone === null ? listed : readLastPages({ db }, id);
  const foundIn = named.length > 0 ? named : readFirstLink({ db }, id);
  return { url: href, ...source, gone, foundIn };
}

/**
 * SQL for the proof that resource `r` with its last revision `v` is gone. A check after it was last seen can only have
 * found it absent.
 */
const goneProofSql = `case
  when r.gone_run is null or r.last_checked_run is null then null
  when (select mode from _run where id = r.last_checked_run) = 'load' then 'snapshot'
  when coalesce(v.seen_run, v.from_run) < r.last_checked_run then 'response'
  when exists (
    select 1 from _resource o where o.gone_run <= r.gone_run and o.id not in (select id from _page)
      and o.id in (r.owner_id, (select owner_id from _resource where id = r.owner_id))
  ) then 'parent'
  else 'listing' end`;

/** The pages of its owner's list that named a resource last, which is gone. Raw: SQLite reads this list alone. */
function readLastPages({ db }: Pick<MirrorReader, "db">, id: number): Provenance["foundIn"] {
  return db
    .prepare<[number], Provenance["foundIn"][number]>(
      `with last as materialized (
         select m.page_id, m.to_run from _resource r cross join _page p on p.collection_id = r.owner_id
           cross join _member_past m on m.page_id = p.id
         where r.id = ? and m.item_id = r.id and m.to_run <= r.gone_run)
       select distinct page.url, null as link from last join _resource page on page.id = last.page_id
       where to_run = (select max(to_run) from last) order by page.id`,
    )
    .all(id);
}

function readFirstLink({ db }: Pick<MirrorReader, "db">, id: number): Provenance["foundIn"] {
  return prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_link as l")
      .innerJoin("_resource as r", "r.id", "l.from_id")
      .select(["r.url", "l.name as link"])
      .where("l.to_id", "=", p.id)
      .orderBy("l.from_run")
      .orderBy("r.id")
      .orderBy("l.name")
      .limit(1),
  ).all({ id });
}

/** Null if no field has changed since the first revision that is kept. */
export function readLastChange(mirror: MirrorReader, kind: ShownKind, href: string): LastChange | null {
  const revisions = readHistory(mirror, kind, href).lives.flatMap((life) => life.revisions);
  const last = revisions.slice(1).findLast(({ changes }) => changes.length > 0);
  return last === undefined ? null : { ...last.firstSeen, changes: last.changes };
}

/**
 * The body of a resource as the service sent it.
 * @param key a URL, or a key such as `brand/model`; null for the only resource of the kind
 * @throws KeyError if the key matches no resource, or several; DamagedBodyError
 */
export function readBody(mirror: MirrorReader, kind: ShownKind, key: string | null): Buffer {
  const { href } = findResource(mirror, kind, key);
  const stored = prepare(mirror.db, (p: { href: string }) =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_revision as v", "v.resource_id", "r.id")
      .innerJoin("_content as c", "c.id", "v.content_id")
      .select([...storedBodyColumns, "c.sha256"])
      .where("r.url", "=", p.href)
      .orderBy("v.seq", "desc")
      .limit(1),
  ).get({ href });
  if (stored === undefined) throw new DamagedValueError(`${href} has a row, but no revision`);
  return prepareReadProvenBody(mirror.db)(stored, stored.sha256.toString("hex"));
}
