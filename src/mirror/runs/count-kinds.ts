/**
 * Counts the resources of each kind: how whole it is, and what `status` shows besides. Counting means reading the whole mirror,
 * so each run stores the counts when it closes.
 */
import { type SqlBool, sql } from "kysely";
import { millisOf } from "../../../schema/tables.ts";
import { dayMillis } from "../../platform/clock.ts";
import { readEmptiedLists } from "../absence/emptied-lists.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { isoTime, q } from "../queries/query-builder.ts";
import { isBelow, type ScopeParameters, scopeParameters } from "../scope.ts";
import { type Confirmation, readConfirmations } from "../snapshots/loaded.ts";
import { readMissingLinks } from "./missing-links.ts";

/** Counts of resources of one kind: `known` is the sum of `held`, `due`, `failed` and `gone`. */
export interface KindCoverage {
  readonly kind: string;
  readonly known: number;
  /** Fetched, and not gone. */
  readonly held: number;
  /** Never fetched; also if the service asked to request it later. */
  readonly due: number;
  /** Never fetched, and the last attempt failed. */
  readonly failed: number;
  /** Tombstones. */
  readonly gone: number;
  /** Lists of this kind whose pages are inconsistent. */
  readonly partial: number;
  /** Resources without a usable link to one of this kind, which the specification requires. */
  readonly missingLinks: number;
  /** Absent resources that are kept until `sync --approve`. */
  readonly awaitingApproval: number;
  /** Times of the first and the last check of held resources, ISO 8601, UTC; null if none is held. */
  readonly oldestCheckAt: string | null;
  /** As `oldestCheckAt`, of the last check. */
  readonly newestCheckAt: string | null;
  /** Of the held resources; absent in a mirror without snapshots, where the service has sent all of them itself. */
  readonly confirmed?: Confirmation | undefined;
}

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
const isCounted = () =>
  sql<SqlBool>`state not in ('elsewhere', 'superseded') and not (state = 'due' and kind like '?%.item')`;

/** A postponed resource has not failed: it is due at a given time. */
const isDue = () => sql<boolean>`(state = 'due' or (state = 'failed' and retry_at is not null))`;
const isFailed = () => sql<boolean>`(state = 'failed' and retry_at is null)`;

const countOf = (condition: ReturnType<typeof sql<boolean>>) => sql<number>`total(${condition})`;
const checkAt = (extreme: "min" | "max") =>
  isoTime<string | null>(`${extreme}(checked_at) filter (where state = 'held')`);

/**
 * By kind, in the order in which they were found.
 * @param belowIds only of these resources and those below them; default: all
 */
export function countCoverage(
  db: Connection,
  belowIds: readonly number[] | null = null,
): readonly KindCoverage[] {
  const scope = { kinds: ["models", "sizes"], belowIds };
  const parameters = scopeParameters(scope);
  const known = prepare(db, (p: ScopeParameters) =>
    q
      .selectFrom("_resource")
      .select(["kind", (eb) => eb.fn.countAll<number>().as("known")])
      .select([
        countOf(sql`state = 'held'`).as("held"),
        countOf(isDue()).as("due"),
        countOf(isFailed()).as("failed"),
        countOf(sql`state = 'gone'`).as("gone"),
        countOf(sql`absent_by in ('response', 'listing')`).as("awaitingApproval"),
      ])
      .select([checkAt("min").as("oldestCheckAt"), checkAt("max").as("newestCheckAt")])
      .where(isCounted())
      .where(isBelow(p, "id"))
      .groupBy("kind")
      .orderBy((eb) => eb.fn.min("id")),
  ).all(parameters);
  const partial = new Map(selectPartial(db, parameters).map(({ kind, count }) => [kind, count]));
  const missing = Map.groupBy(readMissingLinks(db, belowIds && scope), ({ kind }) => kind);
  const emptied = readEmptiedLists(db, parameters);
  const confirmations = readConfirmations(db, parameters);
  const unknown = [...missing.keys()]
    .filter((kind) => !known.some((row) => row.kind === kind))
    .map((kind) => ({ kind, ...nothingKnown }));
  return [...known, ...unknown].map(({ awaitingApproval, oldestCheckAt, newestCheckAt, ...counts }) => ({
    ...counts,
    partial: partial.get(counts.kind) ?? 0,
    missingLinks: missing.get(counts.kind)?.length ?? 0,
    awaitingApproval:
      awaitingApproval +
      emptied.filter(({ kind }) => kind === counts.kind).reduce((sum, { absent }) => sum + absent, 0),
    oldestCheckAt,
    newestCheckAt,
    ...confirmedOf(confirmations, counts.kind),
  }));
}

export const nothingKnown = {
  ...{ known: 0, held: 0, due: 0, failed: 0, gone: 0, awaitingApproval: 0 },
  ...{ oldestCheckAt: null, newestCheckAt: null },
};

/** Nothing without snapshots. */
const confirmedOf = (
  confirmations: ReturnType<typeof readConfirmations>,
  kind: string,
): Pick<KindCoverage, "confirmed"> =>
  confirmations === null
    ? {}
    : { confirmed: confirmations.get(kind) ?? { bytes: 0, validator: 0, unconfirmed: 0 } };

function selectPartial(db: Connection, scope: ScopeParameters): { kind: string; count: number }[] {
  return prepare(db, (p: ScopeParameters) =>
    q
      .selectFrom("_pass as p")
      .innerJoin("_resource as r", "r.id", "p.collection_id")
      .select(["r.kind", (eb) => eb.fn.countAll<number>().as("count")])
      .where("p.status", "=", "partial")
      .where(isBelow(p, "r.id"))
      .groupBy("r.kind"),
  ).all(scope);
}

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
