/**
 * Proves as-of views and diffs on random histories: as of each run, the mirror shows what it showed directly after the run; and
 * a diff of any two runs, in both directions, turns one state into the other.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import fc from "fast-check";
import type { Change } from "../../../src/change/change.ts";
import { diff } from "../../../src/change/diff.ts";
import { noFilter } from "../../../src/change/filter.ts";
import { compareRuns } from "../../../src/change/run-comparison.ts";
import { type MirrorLocation, openSnapshot } from "../../../src/change/sources.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { compareText } from "../../../src/platform/text/compare-text.ts";
import { problemsOf } from "../../mirror/support/mirror-rig.ts";
import { publicState } from "../../mirror/support/public-state.ts";
import { apply, type Rows, textOf } from "./apply.ts";
import { type HistoryMirror, histories, replayHistory, type Step } from "./histories.ts";

const kindOrder = ["brand", "model", "size"];

export interface ProofOptions {
  readonly histories: number;
  /** Default: random. */
  readonly seed?: number;
  /** Called after each history with its number of pairs of runs. */
  readonly onProven?: (pairs: number) => void;
}

const idle: Step = { edits: [], follow: [], maxBatches: 1000, again: [], rebuilds: false, prunes: 0 };
/**
 * A resource that the root links to becomes known as a model, and the model's brand is gone before the run closes: the resource
 * is due, and was never read as a model.
 */
const dueBelowTombstone: readonly Step[] = [
  { ...idle, follow: ["newest"], again: [{ place: 1, version: 0 }], rebuilds: true },
];

const someHistories = fc.oneof(
  { weight: 2, arbitrary: histories(6, { minSteps: 2 }) },
  { weight: 1, arbitrary: histories(6, { minSteps: 2, prunes: true }) },
);

/** @throws fast-check's error, with its seed, for a counterexample */
export async function proveDiffs({ histories: count, seed, onProven }: ProofOptions): Promise<void> {
  await fc.assert(
    fc.asyncProperty(someHistories, async (history) => {
      await using lived = await replayHistory(history);
      provePast(history, lived);
      onProven?.(provePairs(lived));
    }),
    { numRuns: count, examples: [[dueBelowTombstone]], ...(seed !== undefined && { seed }) },
  );
}

function provePast(history: readonly Step[], { file, frozen }: HistoryMirror): void {
  // recently_changed lists revisions, and pruning removes some.
  const isWhole = history.every(({ prunes }) => prunes === 0);
  const present = openMirrorReader(file);
  deepStrictEqual(problemsOf(present), []);
  present.close();
  for (const [run, state] of frozen) {
    const reader = openMirrorReader(file, { kind: "run", run });
    const { recently_changed: remaining, ...actual } = publicState(reader.db);
    reader.close();
    const { recently_changed: changes, ...expected } = state;
    deepStrictEqual(actual, expected);
    if (isWhole) deepStrictEqual(remaining, changes);
    else for (const change of remaining ?? []) ok(changes?.includes(change));
  }
}

function provePairs({ file, states }: HistoryMirror): number {
  const runs = [...states.keys()];
  const pairs = runs.flatMap((a, n) => runs.slice(n + 1).map((b) => [a, b] as const));
  for (const [a, b] of pairs) {
    proveDiff(diffRuns(file, a, b), states.get(a), states.get(b));
    proveDiff(diffRuns(file, b, a), states.get(b), states.get(a));
  }
  return pairs.length;
}

/** The changes between two runs of a mirror. */
export function diffRuns(file: string, before: number, after: number, filter = noFilter): Change[] {
  return openSnapshot(file, (mirror) => {
    const changes = [...diff(compareRuns(mirror, { before, after }), filter)];
    mirror.close();
    return changes;
  });
}

export function placeOf(file: string, run: number): MirrorLocation {
  return { mirror: file, run, endedAt: null };
}

function proveDiff(changes: readonly Change[], before: Rows = new Map(), after: Rows = new Map()): void {
  strictEqual(textOf(apply(before, changes)), textOf(after));
  deepStrictEqual(changes, [...changes].sort(byKindThenHref));
}

function byKindThenHref(a: Change, b: Change): number {
  return kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind) || compareText(a.href, b.href);
}
