/**
 * What takes long to compute on a large mirror: counts over all of its resources, the plan, comparisons. Each value is a
 * function of a mirror, the time and plain data, so that a thread can compute it; pages read it with `View.slow`.
 */
import type { MirrorReader } from "../../mirror/reader.ts";
import { readCoverage } from "../../mirror/runs/coverage.ts";
import { systemClock } from "../../platform/clock.ts";
import { listCountedTables } from "../../query/lists/described-tables.ts";
import { readLatestChanges } from "../../query/lists/latest-changes.ts";
import { countFacetGroups, type List } from "../../query/lists/list.ts";
import { listSizingSystems, readSizeMatrices } from "../../query/lists/size-matrix.ts";
import { readAgesOfChecks, readDays } from "../../query/status/activity.ts";
import { readCounts } from "../../query/status/kind-status.ts";
import { forecastOfMirror, planOfMirror } from "../../sync/plan/preview.ts";
import { type ComparedRuns, readChangesBetween } from "./changes-between.ts";
import { readProgress } from "./progress.ts";

/** Of the first page: those with a page of their own, or on that of their model. */
const changedKinds = ["brand", "model", "size"];
const maxChanges = 12;

/** What a value may depend on besides its mirror: plain data. */
export interface ValueContext {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Of the requests that fetch the mirror. */
  readonly ledgerFile: string;
}

/** By name. */
export const slowValues = {
  kinds: (mirror: MirrorReader) => readCounts(mirror),
  // Stored with each run that has ended, and counted while one runs.
  coverage: (mirror: MirrorReader) => readCoverage(mirror),
  days: (mirror: MirrorReader) => readDays(mirror),
  ages: (mirror: MirrorReader, { now }: ValueContext) => readAgesOfChecks(mirror, now),
  forecast: (mirror: MirrorReader, { now, ledgerFile }: ValueContext) =>
    forecastOfMirror(mirror, ledgerFile, now),
  "newest changes": (mirror: MirrorReader) => readLatestChanges(mirror, changedKinds, maxChanges),
  plan: (mirror: MirrorReader, { now, ledgerFile }: ValueContext) =>
    planOfMirror(mirror, ledgerFile, { ...systemClock, now: () => now }),
  facets: (mirror: MirrorReader, _context: ValueContext, list: Pick<List, "from" | "facets">) =>
    countFacetGroups(mirror, list, {}),
  tables: (mirror: MirrorReader) => listCountedTables(mirror),
  changes: (mirror: MirrorReader, _context: ValueContext, compared: ComparedRuns) =>
    readChangesBetween(mirror, compared),
  progress: (mirror: MirrorReader, { now, ledgerFile }: ValueContext, run: number) =>
    readProgress(mirror, run, ledgerFile, now),
  "sizing systems": (mirror: MirrorReader) => listSizingSystems(mirror),
  "sizes of a brand": (mirror: MirrorReader, _context: ValueContext, brandId: number) =>
    readSizeMatrices(mirror, brandId),
} as const;

export type SlowValues = typeof slowValues;
export type SlowName = keyof SlowValues;
export type SlowValue<Name extends SlowName> = ReturnType<SlowValues[Name]>;
/** Plain data, after the mirror and the context. */
export type SlowArguments<Name extends SlowName> =
  Parameters<SlowValues[Name]> extends readonly [MirrorReader, ValueContext?, ...infer Rest] ? Rest : never;

export function computeSlowValue(
  name: SlowName,
  mirror: MirrorReader,
  context: ValueContext,
  args: readonly unknown[],
): unknown {
  const compute = slowValues[name] as (
    mirror: MirrorReader,
    context: ValueContext,
    ...args: unknown[]
  ) => unknown;
  return compute(mirror, context, ...args);
}
