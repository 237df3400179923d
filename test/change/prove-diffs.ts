/**
 * The proof that diffs are exact, on random lives of a mirror: between any two runs of one, to and fro, a diff applied to
 * the state of the one gives that of the other. `npm run prove` does so for 10,000 pairs of runs.
 */
import { deepStrictEqual, strictEqual } from "node:assert";
import fc from "fast-check";
import type { Change } from "../../src/change/change.ts";
import { diff } from "../../src/change/diff.ts";
import { openRunsOfMirror } from "../../src/change/mirror-state.ts";
import { compareText } from "../../src/change/state.ts";
import { apply, textOf } from "./apply.ts";
import { histories, liveThrough } from "./histories.ts";

const steps = 7;
const pairsOfHistory = (steps + 1) ** 2;
const kindOrder = ["brand", "model", "size"];

/** @throws fast-check's error, with its seed, where one is not */
export async function proveDiffs(pairs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(histories(steps), async (history) => {
      await using lived = await liveThrough(history);
      const place = (run: number) => ({ mirror: lived.file, run, endedAt: null });
      for (const [a, one] of lived.states.entries()) {
        for (const [b, other] of lived.states.entries()) {
          const states = openRunsOfMirror(place(a), place(b));
          const changes = [...diff(...states)];
          for (const state of states) state.close();
          strictEqual(textOf(apply(one, changes)), textOf(other));
          deepStrictEqual(changes, [...changes].sort(inOrder));
        }
      }
    }),
    { numRuns: Math.ceil(pairs / pairsOfHistory) },
  );
}

function inOrder(one: Change, other: Change): number {
  return kindOrder.indexOf(one.kind) - kindOrder.indexOf(other.kind) || compareText(one.href, other.href);
}

if (import.meta.main) {
  await proveDiffs(10_000);
  process.stdout.write("10,000 pairs of runs: each diff gives the one state from the other.\n");
}
