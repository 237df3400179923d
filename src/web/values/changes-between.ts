/** A page of the changes between two states of a mirror, and how many there are. */
import { type Change, count, type Totals } from "../../change/change.ts";
import type { FilterInput } from "../../change/filter.ts";
import type { Keyed } from "../../change/keys.ts";
import { type FromRun, type OpenDiff, openRunDiff } from "../../change/open-diff.ts";
import type { DiffSource } from "../../change/sources.ts";
import type { MirrorReader } from "../../mirror/reader.ts";

export interface ChangesBetween {
  readonly from: DiffSource | null;
  readonly to: DiffSource;
  readonly coverage: OpenDiff<unknown>["coverage"];
  readonly shown: readonly Keyed<Change>[];
  readonly hasMore: boolean;
  /** Of all changes; null if there are too many to count. */
  readonly totals: Totals | null;
}

export interface ComparedRuns {
  readonly from: FromRun;
  /** The number of a run. */
  readonly to: number;
  readonly filter: FilterInput;
  /** Whether nothing is before it: then all is new, and they are not counted. */
  readonly isFirst: boolean;
  /** How many changes are on the pages before. */
  readonly skipped: number;
}

/** So that a page has at most 60 kB. */
const maxShown = 50;
/** Counting more of them would take long. */
const maxCounted = 1000;

/** @throws ChangeError, PointError */
export function readChangesBetween(
  { file }: MirrorReader,
  { from: fromRun, to: toRun, filter, ...page }: ComparedRuns,
): ChangesBetween {
  const opened = openRunDiff({ file, point: { kind: "run", run: toRun } }, fromRun, filter);
  try {
    const { from, to, coverage } = opened;
    return { from, to, coverage, ...readPage(opened.changes, page) };
  } finally {
    opened.close();
  }
}

function readPage(
  changes: Iterable<Keyed<Change>>,
  { isFirst, skipped }: Pick<ComparedRuns, "isFirst" | "skipped">,
): Pick<ChangesBetween, "shown" | "hasMore" | "totals"> {
  const shown: Keyed<Change>[] = [];
  const totals: Totals = {};
  const end = skipped + maxShown;
  const mostRead = isFirst ? end : Math.max(end, maxCounted);
  let read = 0;
  for (const change of changes) {
    read++;
    if (read > mostRead) return { shown, hasMore: true, totals: null };
    if (read > skipped && read <= end) shown.push(change);
    if (read <= maxCounted) count(totals, change);
  }
  return { shown, hasMore: read > end, totals: read > maxCounted ? null : totals };
}
