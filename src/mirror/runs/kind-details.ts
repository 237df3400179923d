/**
 * What `status` shows of each kind besides its coverage. Counting it means reading the whole mirror, so each run stores it
 * when it closes.
 */
import { type SqlBool, sql } from "kysely";
import { millisOf } from "../../../schema/tables.ts";
import { dayMillis } from "../../platform/clock.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";

/** What is known of the resources of one kind beside their states. */
export interface KindDetails {
  /** At least 90 % of the held resources were checked at this time or later: ISO 8601, UTC; null if nothing is held. */
  readonly p90CheckAt: string | null;
  /** At least half of them. */
  readonly p50CheckAt: string | null;
  /** Resources whose last request failed, also held ones. */
  readonly errors: number;
  /** All stored revisions of such resources, former ones included. */
  readonly revisions: number;
  /** The numbers of recorded links that are not followed, by name. */
  readonly unfollowedLinks: Readonly<Record<string, number>>;
  /** Not shown: how often such resources change decides the order of checks. Earlier versions did not store it. */
  readonly observed?: Observed;
}

/** Changes of resources, and the days from their first run to their last check, in sum. */
export interface Observed {
  /** Revisions after the first of each resource. */
  readonly changes: number;
  /** From the first run of each resource to its last check, summed over all. */
  readonly days: number;
}

/** Which resources count. Nothing fetches the items of a list whose kind is unknown: `sync --follow` fetches the list. */
export const isCounted = () =>
  sql<SqlBool>`state not in ('elsewhere', 'superseded') and not (state = 'due' and kind like '?%.item')`;

export const noDetails = {
  ...{ p90CheckAt: null, p50CheckAt: null },
  ...{ errors: 0, revisions: 0, unfollowedLinks: {} },
  observed: { changes: 0, days: 0 },
} satisfies KindDetails;

/** By kind; `noDetails` for others. */
export function countDetails(db: Connection): ReadonlyMap<string, KindDetails> {
  const errors = new Map(countErrors(db).map(({ kind, count }) => [kind, count]));
  const revisions = new Map(countRevisions(db).map(({ kind, count }) => [kind, count]));
  const links = Map.groupBy(countUnfollowedLinks(db), ({ kind }) => kind);
  const times = checkTimes(db);
  const observed = observeChanges(db);
  const kinds = new Set([errors, revisions, links, times, observed].flatMap((counts) => [...counts.keys()]));
  return new Map(
    [...kinds].map((kind): [string, KindDetails] => [
      kind,
      {
        ...(times.get(kind) ?? { p90CheckAt: null, p50CheckAt: null }),
        errors: errors.get(kind) ?? 0,
        revisions: revisions.get(kind) ?? 0,
        unfollowedLinks: Object.fromEntries((links.get(kind) ?? []).map(({ name, count }) => [name, count])),
        observed: observed.get(kind) ?? noDetails.observed,
      },
    ]),
  );
}

function countErrors(db: Connection) {
  return prepare(db, () =>
    q
      .selectFrom("_resource")
      .select(["kind", (eb) => eb.fn.countAll<number>().as("count")])
      .where("error", "is not", null)
      .groupBy("kind"),
  ).all();
}

function countRevisions(db: Connection) {
  return prepare(db, () =>
    q
      .selectFrom("_revision as v")
      .innerJoin("_resource as r", "r.id", "v.resource_id")
      .select(["r.kind", (eb) => eb.fn.countAll<number>().as("count")])
      .groupBy("r.kind"),
  ).all();
}

function countUnfollowedLinks(db: Connection) {
  return prepare(db, () =>
    q
      .selectFrom("_link as l")
      .innerJoin("_resource as r", "r.id", "l.from_id")
      .select(["r.kind", "l.name", (eb) => eb.fn.countAll<number>().as("count")])
      .where("l.unfollowed_url", "is not", null)
      .groupBy(["r.kind", "l.name"]),
  ).all();
}

/** By kind. */
export function observeChanges(db: Connection): ReadonlyMap<string, Observed> {
  // Two queries: most resources never changed, so the first joins few of them.
  const selectChanges = prepare(db, () =>
    q
      .selectFrom(changed().as("v"))
      .innerJoin("_resource as r", "r.id", "v.id")
      .select(["r.kind", sql<number>`total(v.changes)`.as("changes")])
      .where("r.checked_at", "is not", null)
      .groupBy("r.kind"),
  );
  const selectDays = prepare(db, () =>
    q
      .with(
        (cte) => cte("f").materialized(),
        () => startOfRuns(),
      )
      .selectFrom("_resource as r")
      .innerJoin("f", "f.id", "r.first_run")
      .select(["r.kind", sql<number>`total(max(0, r.checked_at - f.startedAt)) / ${dayMillis}`.as("days")])
      .where("r.checked_at", "is not", null)
      .groupBy("r.kind"),
  );
  const changesOf = new Map(selectChanges.all().map(({ kind, changes }) => [kind, changes]));
  return new Map(
    selectDays.all().map(({ kind, days }) => [kind, { changes: changesOf.get(kind) ?? 0, days }]),
  );
}

const changed = () =>
  q
    .selectFrom("_revision")
    .select(["resource_id as id", sql<number>`max(seq) - 1`.as("changes")])
    .groupBy("resource_id")
    .having(sql<SqlBool>`max(seq) > 1`);

const startOfRuns = () =>
  q.selectFrom("_run").select(["id", sql<number>`${sql.raw(millisOf("started_at"))}`.as("startedAt")]);

/** Sorted here: window functions of SQLite take several times as long. */
function checkTimes(db: Connection): Map<string, Pick<KindDetails, "p90CheckAt" | "p50CheckAt">> {
  const select = prepare(db, () =>
    q.selectFrom("_resource").select(["kind", "checked_at"]).where("state", "=", "held").where(isCounted()),
  );
  const byKind = new Map<string, number[]>();
  for (const { kind, checked_at: at } of select.iterate()) {
    const times = byKind.get(kind) ?? [];
    if (times.length === 0) byKind.set(kind, times);
    times.push(at === null ? Number.NEGATIVE_INFINITY : Number(at));
  }
  return new Map(
    [...byKind].map(([kind, times]) => {
      const sorted = Float64Array.from(times).sort();
      const checkAt = (share: number) => timeText(sorted[sorted.length - Math.ceil(sorted.length * share)]);
      return [kind, { p90CheckAt: checkAt(0.9), p50CheckAt: checkAt(0.5) }];
    }),
  );
}

/** Null for a time that ISO 8601 does not have. */
function timeText(millis = Number.NaN): string | null {
  const date = new Date(millis);
  const text = Number.isNaN(date.getTime()) ? "" : date.toISOString();
  return text.length === 24 ? text : null;
}
