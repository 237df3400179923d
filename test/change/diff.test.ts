/** Diffs are exact: whatever a mirror has lived through, what is said of two of its runs makes the one of the other. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Change } from "../../src/change/change.ts";
import { diff } from "../../src/change/diff.ts";
import { openMirrorState, openRunsOfMirror } from "../../src/change/mirror-state.ts";
import { compareText } from "../../src/change/state.ts";
import { apply, textOf } from "./apply.ts";
import { histories, liveThrough } from "./histories.ts";

const steps = 7;
const kindOrder = ["brand", "model", "size"];

it("applied to the state of one run, a diff gives the state of another, to and fro", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(histories(steps), async (history) => {
      await using lived = await liveThrough(history);
      const place = (run: number) => ({ mirror: lived.file, run, endedAt: null });
      for (const [a, one] of lived.states.entries()) {
        for (const [b, other] of lived.states.entries()) {
          const states = openRunsOfMirror(place(a), place(b));
          const changes = [...diff(...states)];
          for (const state of states) state.close();
          expect(textOf(apply(one, changes))).toBe(textOf(other));
          expect(changes.map(placeOf)).toEqual([...changes.map(placeOf)].sort(inOrder));
        }
      }
    }),
    { numRuns: 10 },
  );
});

it("of two runs of a mirror, says the same as of two mirrors that are copies of it", async () => {
  await fc.assert(
    fc.asyncProperty(histories(steps), fc.nat(steps), fc.nat(steps), async (history, a, b) => {
      await using lived = await liveThrough(history);
      const place = (run: number) => ({ mirror: lived.file, run, endedAt: null });
      const few = openRunsOfMirror(place(a), place(b));
      const whole = [openMirrorState(place(a)), openMirrorState(place(b))] as const;
      expect([...diff(...few)]).toEqual([...diff(...whole)]);
      for (const state of [...few, ...whole]) state.close();
    }),
    { numRuns: 30 },
  );
});

function placeOf({ kind, href }: Change): readonly [kind: string, href: string] {
  return [kind, href];
}

function inOrder(one: ReturnType<typeof placeOf>, other: ReturnType<typeof placeOf>): number {
  return kindOrder.indexOf(one[0]) - kindOrder.indexOf(other[0]) || compareText(one[1], other[1]);
}
