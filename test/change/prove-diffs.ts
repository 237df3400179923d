/**
 * The proof that the past and diffs of it are exact, on random lives of a mirror: as of each of its runs it shows what it
 * showed when that run had closed, and between any two of them, to and fro, a diff applied to the one state gives the other.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import fc from "fast-check";
import type { Change } from "../../src/change/change.ts";
import { diff } from "../../src/change/diff.ts";
import { openRunsOfMirror } from "../../src/change/mirror-state.ts";
import { compareText, type State } from "../../src/change/state.ts";
import { openMirrorReader } from "../../src/mirror/mirror.ts";
import { problemsOf } from "../mirror/mirror-rig.ts";
import { publicState } from "../mirror/public-state.ts";
import { apply, type Rows, textOf } from "./apply.ts";
import { histories, type LivedMirror, liveThrough, type Step } from "./histories.ts";

const kindOrder = ["brand", "model", "size"];

export interface ProofOptions {
  readonly histories: number;
  /** Any unless told. */
  readonly seed?: number;
  /** Told of each history that was proven, with how many pairs of runs it had. */
  readonly onProven?: (pairs: number) => void;
}

const someHistories = fc.oneof(
  { weight: 2, arbitrary: histories(6, { minSteps: 2 }) },
  { weight: 1, arbitrary: histories(6, { minSteps: 2, forgets: true }) },
);

/** @throws fast-check's error, with its seed, where one is not */
export async function proveDiffs({ histories: count, seed, onProven }: ProofOptions): Promise<void> {
  await fc.assert(
    fc.asyncProperty(someHistories, async (history) => {
      await using lived = await liveThrough(history);
      provePast(history, lived);
      onProven?.(provePairs(lived));
    }),
    { numRuns: count, ...(seed !== undefined && { seed }) },
  );
}

function provePast(history: readonly Step[], { file, frozen }: LivedMirror): void {
  // The list of changes is of revisions, and fewer are left where runs were forgotten.
  const isWhole = history.every(({ forgets }) => forgets === 0);
  const present = openMirrorReader(file);
  deepStrictEqual(problemsOf(present), []);
  present.close();
  for (const [run, state] of frozen) {
    const reader = openMirrorReader(file, { kind: "run", run });
    const { recently_changed: remaining, ...shown } = publicState(reader.db);
    reader.close();
    const { recently_changed: changes, ...kept } = state;
    deepStrictEqual(shown, kept);
    if (isWhole) deepStrictEqual(remaining, changes);
    else for (const change of remaining ?? []) ok(changes?.includes(change));
  }
}

function provePairs({ file, states }: LivedMirror): number {
  const runs = [...states.keys()];
  const place = (run: number) => ({ mirror: file, run, endedAt: null });
  const pairs = runs.flatMap((a, n) => runs.slice(n + 1).map((b) => [a, b] as const));
  for (const [a, b] of pairs) {
    const [one, other] = openRunsOfMirror(place(a), place(b));
    proveDiff(one, other, states.get(a), states.get(b));
    proveDiff(other, one, states.get(b), states.get(a));
    one.close();
    other.close();
  }
  return pairs.length;
}

function proveDiff(from: State, to: State, before: Rows = new Map(), after: Rows = new Map()): void {
  const changes = [...diff(from, to)];
  strictEqual(textOf(apply(before, changes)), textOf(after));
  deepStrictEqual(changes, [...changes].sort(inOrder));
}

function inOrder(one: Change, other: Change): number {
  return kindOrder.indexOf(one.kind) - kindOrder.indexOf(other.kind) || compareText(one.href, other.href);
}
