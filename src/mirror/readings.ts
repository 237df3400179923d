/**
 * In which runs each revision was read, and as what: when it came, when it became known what it is or whose, and when links
 * of its began to be followed. In: what is remembered of resources. Out: what a rebuild repeats, run by run.
 */
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
}

/** Resources of which something else was known at first; few, and mostly none. */
const selectPast = `
  with standing as (
    select p.id, p.kind, p.owner_id,
      lead(p.kind, 1, r.kind) over later as next_kind, lead(p.owner_id, 1, r.owner_id) over later as next_owner_id
    from _resource_past p join _resource r on r.id = p.id window later as (partition by p.id order by p.to_run)
  )
  select id, to_run as toRun, kind, owner_id as ownerId, state from _resource_past
  where id in (select id from standing where kind <> next_kind or owner_id is not next_owner_id) order by id, to_run`;

export function prepareReadings(db: Connection): (revision: RevisionBody) => readonly Reading[] {
  const pastOf = Map.groupBy(db.prepare<[], PastStanding>(selectPast).iterate(), ({ id }) => id);
  const followRuns = [...readFollowedSince(db).values()];
  return ({ resource, fromRun, nextRun }) => {
    const past = pastOf.get(resource.id) ?? [];
    const standingAt = (run: number): Standing => past.find(({ toRun }) => toRun > run) ?? resource;
    const isWithin = (run: number) => run > fromRun && (nextRun === null || run < nextRun);
    const later = [...past.map(({ toRun }) => toRun), ...followRuns].filter(isWithin).sort((a, b) => a - b);
    const readings: Reading[] = [];
    for (const run of [fromRun, ...later]) {
      const { kind, ownerId, state } = standingAt(run);
      // What has become something else is read as that when it was fetched again.
      const isAwaited = state === "due" && readings.length > 0 && readings.at(-1)?.kind !== kind;
      if (!isAwaited) readings.push({ run, kind, ownerId });
    }
    return readings;
  };
}
