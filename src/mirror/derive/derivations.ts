/**
 * In which runs each revision was read, and as what: when it came, when it became known what it is or whose, and when links
 * of its began to be followed. In: what is remembered of resources. Out: what a rebuild repeats, run by run.
 */
import { entities } from "../../../schema/entities.ts";
import { isUnknownKind, unknownKind } from "../../../schema/kind.ts";
import type { RevisionBody } from "../bodies/read-revisions.ts";
import type { Connection } from "../file/connection.ts";
import { readFollowedSince } from "./links.ts";

export interface Derivation {
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

/** Due for no other reason, if it was read by then: pages are also to be read again, and what is back after it was gone. */
const isAwaited = (table: string) =>
  `${table}.state = 'due' and ${table}.gone_run is null and ${table}.kind not like '?%'
     and not exists (select 1 from _page where id = ${table}.id)`;

/**
 * Resources that became something else after they were read, perhaps in the same run, and those due again without a validator,
 * of which their rows tell that they were read; few, and mostly none.
 */
const selectRetyped = `
  select id from _resource r where ${isAwaited("r")} and etag is null and last_checked_run <> 0
  union select p.id from _resource_past p join _revision v on v.resource_id = p.id and v.from_run < p.to_run where ${isAwaited("p")}
  union select p.id from _resource_past p join _resource r on r.id = p.id where p.kind <> r.kind`;

/** Or that had no owner at first. */
const selectPast = `
  with standing as (
    select p.id, p.owner_id, lead(p.owner_id, 1, r.owner_id) over (partition by p.id order by p.to_run) as next_owner_id
    from _resource_past p join _resource r on r.id = p.id)
  select id, to_run as toRun, kind, owner_id as ownerId, state from _resource_past
  where id in (select id from standing where owner_id is not next_owner_id) or id in (${selectRetyped}) order by id, to_run`;

/** When something was first read as what it is: its rows alone tell, since what is asked for again may have the same body. */
const selectFirstRows = `
  select id, min(from_run) as run from (${entities
    .flatMap(({ table }) => [`_${table}`, `_${table}_past`])
    .map((table) => `select id, from_run from ${table}`)
    .join(" union all ")})
  where id in (${selectRetyped}) group by id`;

/** Makes the table `_reading` of what the rows alone tell, for as long as the connection is open: for a mirror made of what is not computed. */
export function recordFirstDerivations(db: Connection): void {
  db.exec(
    `drop table if exists temp._reading; create temp table _reading (id integer primary key, run integer not null)`,
  );
  db.exec(`insert into temp._reading ${selectFirstRows}`);
}

const areNoted = (db: Connection) =>
  db.prepare("select 1 from temp.sqlite_schema where name = '_reading'").get() !== undefined;

/** To be called while the rows are there, or what they tell is noted. */
export function prepareDerivations(db: Connection): (revision: RevisionBody) => readonly Derivation[] {
  const pastOf = Map.groupBy(db.prepare<[], PastStanding>(selectPast).iterate(), ({ id }) => id);
  const retypedIds = new Set(db.prepare<[], number>(selectRetyped).pluck().all());
  const selectFirst = areNoted(db) ? "select id, run from temp._reading" : selectFirstRows;
  const firstRows = db.prepare<[], { id: number; run: number }>(selectFirst).all();
  const firstRowOf = new Map(firstRows.map(({ id, run }) => [id, run]));
  const followRuns = [...readFollowedSince(db).values()];
  return ({ resource, fromRun, nextRun }) => {
    const { id } = resource;
    const past = pastOf.get(id) ?? [];
    const firstRow = firstRowOf.get(id);
    const standingAt = (run: number): Standing => past.find(({ toRun }) => toRun > run) ?? resource;
    const isReadAsThat = (run: number, { kind, state }: Standing): boolean => {
      if (!retypedIds.has(id) || isUnknownKind(kind)) return true;
      return firstRow === undefined ? state === "held" : run >= firstRow;
    };
    const isWithin = (run: number) => run > fromRun && (nextRun === null || run < nextRun);
    const changes = [...past.map(({ toRun }) => toRun), ...followRuns, firstRow ?? fromRun];
    const readings: Derivation[] = [];
    for (const run of [fromRun, ...changes.filter(isWithin).sort((a, b) => a - b)]) {
      const standing = standingAt(run);
      const { kind, ownerId } = standing;
      if (isReadAsThat(run, standing)) readings.push({ run, kind, ownerId });
      else if (readings.length === 0) readings.push({ run, kind: unknownKind(kind), ownerId });
    }
    return readings;
  };
}
