/**
 * The free checks that promise most: by expected changes, worth and age. To score all held resources would take longer the larger
 * the mirror is. So the models and sizes with most bras come first from an index, and their scores tell how many bras the others
 * need to be among the best: however old a check is, no one of the kind is older than the last run has stored.
 */
import { type SqlBool, sql } from "kysely";
import type { Connection } from "../../../mirror/file/connection.ts";
import { prepare, prepareColumn } from "../../../mirror/file/statements.ts";
import { q } from "../../../mirror/queries/query-builder.ts";
import { readObserved, readStored } from "../../../mirror/runs/coverage.ts";
import type { Scope } from "../../../mirror/scope.ts";
import { freeCheckLimit, type PlanRequest, weights } from "../request.ts";
import {
  type CheckRow,
  checkColumns,
  type HeldParameters,
  isCheckable,
  isFree,
  isFreeAndPresent,
  worth,
} from "./check-conditions.ts";

interface ScoredRow extends CheckRow {
  /** Null if nothing was observed of the kind. */
  readonly score: number | null;
}

interface AllParameters extends HeldParameters {
  rates: string;
  max: number;
}

interface WorthParameters extends HeldParameters {
  rate: number;
  max: number;
}

interface MinParameters extends WorthParameters {
  min: number;
}

/** @returns a function that reads at most as many as the run makes, the best first */
export function prepareExpectedChecks(
  db: Connection,
  request: PlanRequest,
): (checkable: HeldParameters) => CheckRow[] {
  const { scope } = request;
  const selectAll = prepare(db, (p: AllParameters) =>
    q
      .selectFrom("_resource as r")
      .select(checkColumns)
      .select(isFree(p).as("isFree"))
      .where(isCheckable(p))
      .leftJoin("_brand as b", "b.id", "r.id")
      .leftJoin("_model as m", "m.id", "r.id")
      .leftJoin("_size as s", "s.id", "r.id")
      .leftJoin(sql<{ key: string; value: number }>`json_each(${p.rates})`.as("rate"), "rate.key", "r.kind")
      .where(isFreeAndPresent(p))
      .select(sql<number | null>`rate.value * (1 + ${worth()}) * (${p.now} - r.checked_at)`.as("score"))
      .orderBy("score", "desc")
      .orderBy("r.id")
      .limit(p.max),
  );
  const byWorth = scope.belowIds === null ? prepareByWorth(db) : null;

  return (checkable) => {
    const max = freeCheckLimit(request).count;
    const rates = readChangeRates(db);
    const ofKinds = (kinds: readonly string[]): ScoredRow[] =>
      kinds.length === 0
        ? []
        : selectAll.all({
            ...{ ...checkable, kinds: JSON.stringify(kinds), max },
            rates: JSON.stringify(Object.fromEntries(rates)),
          });
    const need = byWorth && findNeed(db, byWorth, { scope, rates, checkable, max });
    if (byWorth === null || need === null) return withoutScores(ofKinds(scope.kinds));
    const rows = ofKinds(scope.kinds.filter((kind) => need(kind) <= 0 || kind === "brand"));
    for (const { kind, select } of byWorth) {
      const min = need(kind);
      const rate = rates.get(kind) ?? 0;
      if (scope.kinds.includes(kind) && min > 0) rows.push(...select.all({ ...checkable, rate, max, min }));
    }
    return withoutScores(rows.sort(byScore).slice(0, max));
  };
}

/** The kinds with most resources. */
const prepareByWorth = (db: Connection) => [
  {
    kind: "model",
    selectScores: prepareColumn(db, (p: WorthParameters) => selectScores("model", p)),
    select: prepare(db, (p: MinParameters) => selectScored("model", p)),
  },
  {
    kind: "size",
    selectScores: prepareColumn(db, (p: WorthParameters) => selectScores("size", p)),
    select: prepare(db, (p: MinParameters) => selectScored("size", p)),
  },
];

const selectScores = (kind: "model" | "size", p: WorthParameters) =>
  scored(kind, p).orderBy("e.bra_count", "desc");

const selectScored = (kind: "model" | "size", p: MinParameters) =>
  scored(kind, p)
    .where(sql<SqlBool>`e.bra_count >= ${p.min}`)
    .select(checkColumns)
    .select(isFree(p).as("isFree"))
    .orderBy("score", "desc")
    .orderBy("r.id");

/** `cross join` keeps SQLite from reading all resources of the kind before their counts of bras. */
const scored = (kind: "model" | "size", p: WorthParameters) =>
  q
    // The same columns are used of both tables.
    .selectFrom(`_${kind as "model"} as e`)
    .crossJoin("_resource as r")
    .whereRef("r.id", "=", "e.id")
    .where(sql<SqlBool>`+r.kind = ${sql.lit(kind)}`)
    .where(isCheckable(p))
    .where(isFreeAndPresent(p))
    .select(score(p).as("score"))
    .limit(p.max);

const score = (p: WorthParameters) =>
  sql<number | null>`${p.rate} * (1 + e.bra_count) * (${p.now} - r.checked_at)`;

/**
 * @returns by kind, how many bras a resource needs to be among the best; null if all have to be scored, because they are few
 * or a run is open
 */
function findNeed(
  db: Connection,
  byWorth: ReturnType<typeof prepareByWorth>,
  {
    scope,
    rates,
    checkable,
    max,
  }: {
    readonly scope: Scope;
    readonly rates: ReadonlyMap<string, number>;
    readonly checkable: HeldParameters;
    readonly max: number;
  },
): ((kind: string) => number) | null {
  const stored = readStored({ db, asOf: null });
  const kinds = byWorth.filter(({ kind }) => scope.kinds.includes(kind));
  const held = kinds.reduce(
    (sum, { kind }) => sum + (stored?.find((one) => one.kind === kind)?.held ?? 0),
    0,
  );
  if (stored === null || held < max * fewTimes) return null;
  const scores = kinds
    .flatMap(({ kind, selectScores }) => selectScores.all({ ...checkable, rate: rates.get(kind) ?? 0, max }))
    .filter((one) => one !== null)
    .sort((a, b) => b - a);
  const least = scores[max - 1];
  if (least === undefined || least <= 0) return null;
  return (kind) => {
    const oldestCheckAt = stored.find((one) => one.kind === kind)?.oldestCheckAt ?? null;
    const most = (rates.get(kind) ?? 0) * (checkable.now - Date.parse(oldestCheckAt ?? ""));
    // A little less, for rounding. Without a rate or a check, none is among the best.
    return most > 0 ? (least * (1 - 1e-9)) / most - 1 : Number.POSITIVE_INFINITY;
  };
}

/** Among so few resources for each check, most would be read twice. */
const fewTimes = 3;

const byScore = (a: ScoredRow, b: ScoredRow): number =>
  (b.score ?? Number.NEGATIVE_INFINITY) - (a.score ?? Number.NEGATIVE_INFINITY) || a.id - b.id;

const withoutScores = (rows: readonly ScoredRow[]): CheckRow[] => rows.map(({ score: _, ...row }) => row);

/**
 * @returns expected changes a day of one resource, by kind; close to a guess where little was observed. The last run has stored
 * what was observed, unless a run is open.
 */
function readChangeRates(db: Connection): Map<string, number> {
  const { changesPerDay, changeGuessDays } = weights;
  return new Map(
    [...readObserved(db)].map(([kind, { changes, days }]) => [
      kind,
      (changes + changesPerDay * changeGuessDays) / (days + changeGuessDays),
    ]),
  );
}
