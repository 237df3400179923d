/** Diffs are exact: whatever a mirror has lived through, what is said of two of its runs makes the one of the other. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { diff } from "../../src/change/diff.ts";
import { openMirrorState, openRunsOfMirror } from "../../src/change/mirror-state.ts";
import { histories, liveThrough } from "./histories.ts";
import { proveDiffs } from "./prove-diffs.ts";

it("applied to the state of one run, a diff gives the state of another, to and fro", {
  timeout: 60_000,
}, async () => {
  await proveDiffs({ histories: 25 });
});

it("of two runs of a mirror, says the same as of two mirrors that are copies of it", async () => {
  const steps = 7;
  await fc.assert(
    fc.asyncProperty(histories(steps), fc.nat(steps), fc.nat(steps), async (history, a, b) => {
      await using lived = await liveThrough(history);
      const place = (run: number) => ({ mirror: lived.file, run, endedAt: null });
      const few = openRunsOfMirror(place(a), place(b));
      const whole = [openMirrorState(place(a)), openMirrorState(place(b))] as const;
      expect([...diff(...few)]).toEqual([...diff(...whole)]);
      for (const state of [...few, ...whole]) state.close();
    }),
    { numRuns: 8 },
  );
});
