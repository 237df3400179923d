/**
 * A mirror day by day, for charts: what each day of syncing cost and brought, and how old the checks are. Days are those of
 * UTC. Read from the file alone.
 */
import { type SqlBool, sql } from "kysely";
import { prepare } from "../../mirror/file/statements.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { listRuns } from "../../mirror/runs/run-log.ts";
import { dayMillis } from "../../platform/clock.ts";
import { q } from "../views.ts";

export interface DayOfSyncs {
  /** Midnight in UTC, epoch milliseconds. */
  readonly day: number;
  /** Counted requests of the runs that began on this day. A run that was killed has no count. */
  readonly counted: number;
  /** Bras of the models held at the end of the day, by today's counts. Pruned history makes a model appear later. */
  readonly brasCovered: number;
}

/** Days with syncs or new models, oldest first. */
export function readDays(mirror: MirrorReader): DayOfSyncs[] {
  const counted = new Map<number, number>();
  for (const { startedAt, counts } of listRuns(mirror, -1)) {
    const day = Math.floor(Date.parse(startedAt) / dayMillis) * dayMillis;
    counted.set(day, (counted.get(day) ?? 0) + (counts?.requests?.counted ?? 0));
  }
  const added = new Map(readAddedBras(mirror).map(({ day, bras }) => [day * dayMillis, bras]));
  let brasCovered = 0;
  return [...new Set([...counted.keys(), ...added.keys()])]
    .sort((a, b) => a - b)
    .map((day) => {
      brasCovered += added.get(day) ?? 0;
      return { day, counted: counted.get(day) ?? 0, brasCovered };
    });
}

/** Bras of the held models, by the day of the oldest kept response of each, in days since 1970. */
function readAddedBras({ db }: MirrorReader): { day: number; bras: number }[] {
  return prepare(db, () =>
    q
      .selectFrom(selectFirstDays().as("first"))
      .innerJoin("_model as m", "m.id", "first.id")
      .select(["first.day", sql<number>`total(m.bra_count)`.as("bras")])
      .groupBy("first.day"),
  ).all();
}

const selectFirstDays = () =>
  q
    .selectFrom("_revision as v")
    .innerJoin("_resource as r", "r.id", "v.resource_id")
    .select(["r.id", sql<number>`min(v.fetched_at) / ${sql.lit(dayMillis)}`.as("day")])
    .where("r.kind", "=", "model")
    .where("r.state", "=", "held")
    .groupBy("r.id");

export interface AgeOfChecks {
  /** The upper end of the age, such as `7 days`, or `older`. */
  readonly label: string;
  readonly resources: number;
}

/** The upper ends of the ages, in days, and what people call them. */
const ages = [
  [1, "1 day"],
  [7, "7 days"],
  [30, "30 days"],
  [90, "90 days"],
  [Number.POSITIVE_INFINITY, "older"],
] as const;

const isYounger = ({ now }: { readonly now: number }, days: number) =>
  Number.isFinite(days)
    ? sql<SqlBool>`checked_at > ${now} - ${sql.lit(days * dayMillis)}`
    : sql<SqlBool>`true`;

/** How long ago the held resources were checked, newest first. @param now epoch milliseconds */
export function readAgesOfChecks({ db }: MirrorReader, now: number): AgeOfChecks[] {
  const counts = prepare(db, (p: { now: number }) =>
    q
      .selectFrom("_resource")
      .select(ages.map(([days], n) => sql<number>`total(${isYounger(p, days)})`.as(`age${n}`)))
      .where("state", "=", "held"),
  ).get({ now }) as Record<string, number> | undefined;
  const upTo = ages.map((_, n) => counts?.[`age${n}`] ?? 0);
  return ages.map(([, label], n) => ({ label, resources: (upTo[n] ?? 0) - (upTo[n - 1] ?? 0) }));
}
