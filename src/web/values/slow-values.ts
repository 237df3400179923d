/**
 * What takes long to compute on a large mirror: counts over all of its resources, the plan, comparisons. Each value is a
 * function of a mirror, the time and plain data, so that a thread can compute it; pages read it with `View.slow`.
 */
import type { MirrorReader } from "../../mirror/reader.ts";
import { readCoverage } from "../../mirror/runs/coverage.ts";
import { systemClock } from "../../platform/clock.ts";
import { listCountedTables } from "../../query/lists/described-tables.ts";
import { readLatestChanges } from "../../query/lists/latest-changes.ts";
import { readBrandSystems, readSizeMatrix } from "../../query/lists/size-matrix.ts";
import { readAgesOfChecks, readDays } from "../../query/status/activity.ts";
import { readCounts } from "../../query/status/kind-status.ts";
import { forecastOfMirror, planOfMirror } from "../../sync/plan/preview.ts";
import { type ComparedRuns, readChangesBetween } from "./changes-between.ts";
import { countProgress } from "./progress.ts";

/** Of the first page: those with a page of their own, or on that of their model. */
const changedKinds = ["brand", "model", "size"];
const maxChanges = 12;

/** By name. `now` is in epoch milliseconds. */
export const slowValues = {
  kinds: (mirror: MirrorReader) => readCounts(mirror),
  // Stored with each run that has ended, and counted while one runs.
  coverage: (mirror: MirrorReader, _now: number, tables?: readonly string[]) => readCoverage(mirror, tables),
  days: (mirror: MirrorReader) => readDays(mirror),
  ages: (mirror: MirrorReader, now: number) => readAgesOfChecks(mirror, now),
  forecast: (mirror: MirrorReader, now: number) => forecastOfMirror(mirror, now),
  "newest changes": (mirror: MirrorReader) => readLatestChanges(mirror, changedKinds, maxChanges),
  plan: (mirror: MirrorReader, now: number) => planOfMirror(mirror, { ...systemClock, now: () => now }),
  tables: (mirror: MirrorReader) => listCountedTables(mirror),
  changes: (mirror: MirrorReader, _now: number, compared: ComparedRuns) =>
    readChangesBetween(mirror, compared),
  progress: (mirror: MirrorReader, _now: number, run: number) => countProgress(mirror, run),
  "sizing systems": (mirror: MirrorReader, _now: number, brandId: number) =>
    readBrandSystems(mirror, brandId),
  "size matrix": (mirror: MirrorReader, _now: number, brandId: number, system: string) =>
    readSizeMatrix(mirror, brandId, system),
} as const;

export type SlowValues = typeof slowValues;
export type SlowName = keyof SlowValues;
export type SlowValue<Name extends SlowName> = ReturnType<SlowValues[Name]>;
/** Plain data, after the mirror and the time. */
export type SlowArguments<Name extends SlowName> =
  Parameters<SlowValues[Name]> extends readonly [MirrorReader, number?, ...infer Rest] ? Rest : never;

export function computeSlowValue(
  name: SlowName,
  mirror: MirrorReader,
  now: number,
  args: readonly unknown[],
): unknown {
  const compute = slowValues[name] as (mirror: MirrorReader, now: number, ...args: unknown[]) => unknown;
  return compute(mirror, now, ...args);
}
