/** What a mirror holds and how fresh it is, computed offline. */
import { statSync } from "node:fs";
import type { Area } from "../../schema/kind.ts";
import { isoTimeOf } from "../../schema/tables.ts";
import { listNotGranted, type ScopeName } from "../mirror/account/token-scopes.ts";
import { type AccountUser, readAccountUser } from "../mirror/account/user.ts";
import type { EndedRun } from "../mirror/points/resolve-point.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { listRuns, type RunRecord } from "../mirror/runs/runs.ts";

export interface MirrorStatus {
  readonly mirror: string;
  readonly area: Area;
  /** Of an account: whose it is, and what is there of hers; null for a catalogue, and before the service said who she is. */
  readonly account: AccountStatus | null;
  readonly baseUrl: string;
  readonly serviceName: string;
  readonly fileBytes: number;
  readonly kinds: readonly KindStatus[];
  readonly revisions: number;
  /** Oddities met in bodies, by kind and where in the body, the commonest first. */
  readonly issues: readonly {
    readonly kind: string;
    readonly code: string;
    /** JSON pointer (RFC 6901) into the body. */
    readonly pointer: string;
    readonly count: number;
    /** One of the resources whose bodies have it, and what else there is to say of that one. */
    readonly href: string;
    readonly detail: string | null;
  }[];
  /** Links that are noted and not followed, by name; `sync --follow NAME` follows them. */
  readonly noted: readonly { readonly name: string; readonly count: number }[];
  /** Lists whose pages do not make one whole, and why; nothing is taken for gone from there. */
  readonly partialListings: readonly { readonly url: string; readonly why: string }[];
  /** Resources that are gone as far as is known, and kept until `sync --approve` lets go of them or they are seen again. */
  readonly waiting: number;
  readonly failures: readonly { readonly url: string; readonly error: string }[];
  readonly lastRun: RunRecord | null;
}

export interface AccountStatus {
  readonly user: AccountUser;
  /** What the token does not grant, as last seen; what is held of that stays. */
  readonly notGranted: readonly ScopeName[];
  readonly bras: PossessionStatus;
  /** Rows of the view: as many as there are measurements, however they are given. */
  readonly measurements: PossessionStatus;
}

export interface PossessionStatus {
  /** Held, and there as far as is known. */
  readonly held: number;
  /** Listed, and not held yet. */
  readonly toCome: number;
  /** Tombstones: deleted at the service, and kept here. */
  readonly gone: number;
}

export interface KindStatus {
  readonly kind: string;
  readonly known: number;
  readonly held: number;
  readonly due: number;
  readonly failed: number;
  readonly gone: number;
  /**
   * When what is held was last checked, ISO 8601, UTC: the oldest; the time since which nine tenths of it were, and half
   * of it; the newest. Null where nothing is held.
   */
  readonly oldestCheckAt: string | null;
  readonly p90CheckAt: string | null;
  readonly p50CheckAt: string | null;
  readonly newestCheckAt: string | null;
}

export function readStatus(mirror: MirrorReader): MirrorStatus {
  const { db, file, identity } = mirror;
  const heldAt = (rank: string) => isoTimeOf(`max(at) filter (where state = 'held' and rank = ${rank})`);
  return {
    mirror: file,
    area: identity.area,
    account: identity.area === "account" ? readAccountStatus(mirror) : null,
    baseUrl: identity.baseUrl,
    serviceName: identity.serviceName,
    fileBytes: statSync(file).size,
    kinds: db
      .prepare<[], KindStatus>(
        `with ranked as (
           select id, kind, state, checked_at as at,
             row_number() over (partition by kind, state order by checked_at desc) as rank,
             count(*) over (partition by kind, state) as count
           from _resource where state not in ('elsewhere', 'superseded')
         )
         select kind, count(*) as known, sum(state = 'held') as held, sum(state = 'due') as due,
           sum(state = 'failed') as failed, sum(state = 'gone') as gone,
           ${heldAt("count")} as oldestCheckAt,
           ${heldAt("(9 * count + 9) / 10")} as p90CheckAt,
           ${heldAt("(count + 1) / 2")} as p50CheckAt,
           ${heldAt("1")} as newestCheckAt
         from ranked group by kind order by min(id)`,
      )
      .all(),
    revisions: readRevisionCount(mirror),
    issues: db
      .prepare<[], MirrorStatus["issues"][number]>(
        // SQLite takes the other columns from the row that has the minimum.
        `select r.kind, i.code, i.pointer, count(*) as count, r.url as href, i.detail, min(r.id)
         from _issue i join _resource r on r.id = i.resource_id
         where i.code not in ('unknown-link', 'partial-listing')
         group by r.kind, i.code, i.pointer order by count desc, r.kind, i.pointer`,
      )
      .all()
      .map(({ kind, code, pointer, count, href, detail }) => ({ kind, code, pointer, count, href, detail })),
    noted: readNotedLinks(mirror),
    partialListings: db
      .prepare<[], MirrorStatus["partialListings"][number]>(
        `select r.url, i.detail as why from _issue i join _resource r on r.id = i.resource_id
         where i.code = 'partial-listing' and r.state = 'held' and r.absent_by is null order by r.id`,
      )
      .all(),
    waiting:
      db
        .prepare<[], number>("select count(*) from _resource where absent_by in ('answer', 'listing')")
        .pluck()
        .get() ?? 0,
    failures: db
      .prepare<[], MirrorStatus["failures"][number]>(
        "select url, error from _resource where error is not null order by id",
      )
      .all(),
    lastRun: listRuns(mirror, 1)[0] ?? null,
  };
}

function readAccountStatus(mirror: MirrorReader): AccountStatus | null {
  const user = readAccountUser(mirror.db);
  if (user === null) return null;
  const read = (kind: "bra" | "measurement"): PossessionStatus =>
    mirror.db
      .prepare<{ kind: string }, PossessionStatus>(
        `select (select count(*) from ${kind} where gone_at is null) as held,
           (select count(*) from _resource where kind = :kind and state in ('due', 'failed')) as toCome,
           (select count(*) from ${kind} where gone_at is not null) as gone`,
      )
      .get({ kind }) ?? { held: 0, toCome: 0, gone: 0 };
  return {
    user,
    notGranted: listNotGranted(mirror),
    bras: read("bra"),
    measurements: read("measurement"),
  };
}

export function readRevisionCount({ db }: MirrorReader): number {
  return db.prepare<[], number>("select count(*) from _revision").pluck().get() ?? 0;
}

export function readNotedLinks({ db }: MirrorReader): MirrorStatus["noted"] {
  return db
    .prepare<[], MirrorStatus["noted"][number]>(
      "select name, count(*) as count from _link where noted_url is not null group by name order by name",
    )
    .all();
}

/** What a mirror held when a run had ended: as much of its status as is remembered. */

/** Without what is of the present alone: when things were checked last, what failed and why, what was odd. */
export interface PastStatus
  extends Pick<MirrorStatus, "mirror" | "baseUrl" | "serviceName" | "revisions" | "noted"> {
  /** Null for the present. */
  readonly asOf: EndedRun | null;
  readonly kinds: readonly Pick<KindStatus, "kind" | "known" | "held" | "due" | "failed" | "gone">[];
  readonly lastRun: RunRecord | null;
}

/** @param mirror opened with a point */
export function readPastStatus(mirror: MirrorReader): PastStatus {
  const { db, file, identity, asOf } = mirror;
  return {
    mirror: file,
    baseUrl: identity.baseUrl,
    serviceName: identity.serviceName,
    asOf,
    kinds: db
      .prepare<[], PastStatus["kinds"][number]>(
        `select c.kind, c.known, c.held, c.due, c.failed, c.gone from coverage c
         order by (select min(id) from main._resource where kind = c.kind)`,
      )
      .all(),
    revisions: readRevisionCount(mirror),
    noted: readNotedLinks(mirror),
    lastRun: listRuns(mirror, 1)[0] ?? null,
  };
}

/** How much of what is known is held: of the present, or of the past that a reader shows. */

export interface Coverage {
  /** Resources that are there as far as is known. */
  readonly known: number;
  readonly held: number;
}

export function readCoverage({ db }: MirrorReader): Coverage {
  const counts = db
    .prepare<[], Coverage>("select total(held + due + failed) as known, total(held) as held from coverage")
    .get();
  return counts ?? { known: 0, held: 0 };
}
