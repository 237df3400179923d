/**
 * In which runs each revision was read, and as what: when it came, when it became known what it is or whose, and when links
 * of its began to be followed. In: what is remembered of resources. Out: what a rebuild repeats, run by run.
 */
import { unknownKind } from "../../schema/kind.ts";
import type { Connection } from "./connection.ts";
import { readFollowedSince } from "./links.ts";
import type { RevisionBody } from "./revisions.ts";

export interface Reading {
  readonly run: number;
  readonly kind: string;
  readonly ownerId: number | null;
}

interface Standing {
  readonly kind: string;
  readonly ownerId: number | null;
  readonly state: string;
}

interface PastStanding extends Standing {
  readonly id: number;
  readonly toRun: number;
  /** 1 where it is due for no other reason, if it was read by then, than that it was not known what it is. */
  readonly isAwaited: 0 | 1;
}

/** Pages are also due when they are to be read again, and what is linked again after it was gone. */
const isAwaited = (table: string) =>
  `${table}.state = 'due' and ${table}.gone_run is null and ${table}.kind not like '?%'
     and not exists (select 1 from _page where id = ${table}.id)`;

const selectAwaited = `select id from _resource r where ${isAwaited("r")} and etag is null and checked_run > 0`;

/** Resources of which something else was known at first; few, and mostly none. */
const selectPast = `
  with standing as (
    select p.id, p.kind, p.owner_id,
      lead(p.kind, 1, r.kind) over later as next_kind, lead(p.owner_id, 1, r.owner_id) over later as next_owner_id
    from _resource_past p join _resource r on r.id = p.id window later as (partition by p.id order by p.to_run)
  )
  select id, to_run as toRun, kind, owner_id as ownerId, state, ${isAwaited("p")} as isAwaited from _resource_past p
  where id in (select id from standing where kind <> next_kind or owner_id is not next_owner_id)
    or id in (select o.id from _resource_past o join _revision v on v.resource_id = o.id and v.from_run < o.to_run
      where ${isAwaited("o")})
  order by id, to_run`;

export function prepareReadings(db: Connection): (revision: RevisionBody) => readonly Reading[] {
  const pastOf = Map.groupBy(db.prepare<[], PastStanding>(selectPast).iterate(), ({ id }) => id);
  const awaitedIds = new Set(db.prepare<[], number>(selectAwaited).pluck().all());
  const followRuns = [...readFollowedSince(db).values()];
  return ({ resource, fromRun, nextRun }) => {
    const past = pastOf.get(resource.id) ?? [];
    const present = { ...resource, isAwaited: awaitedIds.has(resource.id) };
    const standingAt = (run: number) => past.find(({ toRun }) => toRun > run) ?? present;
    const isWithin = (run: number) => run > fromRun && (nextRun === null || run < nextRun);
    const later = [...past.map(({ toRun }) => toRun), ...followRuns].filter(isWithin).sort((a, b) => a - b);
    const readings: Reading[] = [];
    for (const run of [fromRun, ...later]) {
      const { kind, ownerId, state, isAwaited } = standingAt(run);
      const last = readings.at(-1);
      // What has become something else is read as that when it was fetched again, if it was not gone by then.
      if (last !== undefined && state !== "held" && last.kind !== kind) continue;
      const wasUnknown = last === undefined && isAwaited;
      readings.push({ run, kind: wasUnknown ? unknownKind(kind) : kind, ownerId });
    }
    return readings;
  };
}
