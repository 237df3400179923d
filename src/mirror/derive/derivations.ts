/**
 * The runs in which each revision was derived, and with which kind and owner: when it was fetched, when its kind or
 * owner became known, and when a sync began to follow more links. A rebuild repeats these derivations run by run.
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

interface Classification {
  readonly kind: string;
  readonly ownerId: number | null;
  readonly state: string;
}

interface PastClassification extends Classification {
  readonly id: number;
  readonly toRun: number;
}

/** Call this while the typed rows exist, or after `recordFirstDerivations`. */
export function prepareDerivations(db: Connection): (revision: RevisionBody) => readonly Derivation[] {
  const pastById = Map.groupBy(db.prepare<[], PastClassification>(selectPast).iterate(), ({ id }) => id);
  const retypedIds = new Set(db.prepare<[], number>(selectRetyped).pluck().all());
  const selectFirst = hasRecordedFirst(db) ? "select id, run from temp._first_derivation" : selectFirstRows;
  const firstRows = db.prepare<[], { id: number; run: number }>(selectFirst).all();
  const firstRowRuns = new Map(firstRows.map(({ id, run }) => [id, run]));
  const followRuns = [...readFollowedSince(db).values()];
  return ({ resource, fromRun, nextRun }) => {
    const { id } = resource;
    const past = pastById.get(id) ?? [];
    const firstRowRun = firstRowRuns.get(id);
    const classificationAt = (run: number): Classification =>
      past.find(({ toRun }) => toRun > run) ?? resource;
    const wasDerivedAs = (run: number, { kind, state }: Classification): boolean => {
      if (!retypedIds.has(id) || isUnknownKind(kind)) return true;
      return firstRowRun === undefined ? state === "held" : run >= firstRowRun;
    };
    const isOfRevision = (run: number) => run > fromRun && (nextRun === null || run < nextRun);
    const changeRuns = [...past.map(({ toRun }) => toRun), ...followRuns, firstRowRun ?? fromRun];
    const derivations: Derivation[] = [];
    for (const run of [fromRun, ...changeRuns.filter(isOfRevision).sort((a, b) => a - b)]) {
      const classification = classificationAt(run);
      const { kind, ownerId } = classification;
      if (wasDerivedAs(run, classification)) derivations.push({ run, kind, ownerId });
      else if (derivations.length === 0) derivations.push({ run, kind: unknownKind(kind), ownerId });
    }
    return derivations;
  };
}

/**
 * Fills the temporary table `_first_derivation` with the facts about derivations that only typed rows contain. A backup holds
 * them, so that a restored mirror, which has no rows yet, can be rebuilt. The table exists as long as the connection.
 */
export function recordFirstDerivations(db: Connection): void {
  db.exec(
    `drop table if exists temp._first_derivation; create temp table _first_derivation (id integer primary key, run integer not null)`,
  );
  db.exec(`insert into temp._first_derivation ${selectFirstRows}`);
}

function hasRecordedFirst(db: Connection): boolean {
  return db.prepare("select 1 from temp.sqlite_schema where name = '_first_derivation'").get() !== undefined;
}

// Raw, since the statements share parts, and name the tables of all entities.

/** Due because its kind became known. Pages may be due to be read again, and revived tombstones are due too. */
const isDueToRetyping = (table: string) =>
  `${table}.state = 'due' and ${table}.gone_run is null and ${table}.kind not like '?%'
     and not exists (select 1 from _page where id = ${table}.id)`;

/**
 * Resources whose kind changed after they were fetched, and fetched resources that are due without a validator. Only
 * their rows show when they were derived. Usually none.
 */
const selectRetyped = `
  select id from _resource r where ${isDueToRetyping("r")} and etag is null and last_checked_run <> 0
  union select p.id from _resource_past p join _revision v on v.resource_id = p.id and v.from_run < p.to_run
  where ${isDueToRetyping("p")}
  union select p.id from _resource_past p join _resource r on r.id = p.id where p.kind <> r.kind`;

/** Former classifications of resources that were retyped, or that got an owner later. */
const selectPast = `
  with classification as (
    select p.id, p.owner_id, lead(p.owner_id, 1, r.owner_id) over (partition by p.id order by p.to_run) as next_owner_id
    from _resource_past p join _resource r on r.id = p.id)
  select id, to_run as toRun, kind, owner_id as ownerId, state from _resource_past
  where id in (select id from classification where owner_id is not next_owner_id) or id in (${selectRetyped})
  order by id, to_run`;

/** The first run with rows of a resource's kind. Revisions cannot show it: the body may be the same as before. */
const selectFirstRows = `
  select id, min(from_run) as run from (${entities
    .flatMap(({ table }) => [`_${table}`, `_${table}_past`])
    .map((table) => `select id, from_run from ${table}`)
    .join(" union all ")})
  where id in (${selectRetyped}) group by id`;
