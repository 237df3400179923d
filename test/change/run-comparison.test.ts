import fc from "fast-check";
import { expect, it } from "vitest";
import { runBeforeLastChange } from "../../src/change/run-comparison.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { tries } from "../support/thorough.ts";
import { textOf } from "./support/apply.ts";
import { histories, replayHistory, type Step } from "./support/histories.ts";

const idle = {
  ...{ edits: [], follow: [], maxBatches: 1000, again: [] },
  ...{ rebuilds: false, prunes: 0 },
} satisfies Step;
/** A brand changes within a run and changes back before the run closes. */
const backWithinOneRun: readonly Step[] = [
  ...[idle, idle, idle],
  { ...idle, again: [1, 2, 7].map((version) => ({ place: 1, version })) },
  ...[idle, idle],
];
/** A brand is gone when it is first fetched, and appears later. */
const goneAtFirst: readonly Step[] = [
  { ...idle, edits: [{ place: 1, version: 0 }] },
  { ...idle, follow: ["featured", "related"], maxBatches: 0 },
  { ...idle, maxBatches: 1 },
  { ...idle, edits: [{ place: 1, version: 1 }], maxBatches: 0 },
  ...[idle, idle],
];
/** The search for a difference ends while the models' pictures are still being read. */
const readInPart: readonly Step[] = [
  ...[
    { ...idle, maxBatches: 2 },
    { ...idle, maxBatches: 1 },
  ],
  ...[idle, idle, idle, idle],
];

it("runBeforeLastChange passes over runs that changed nothing", async () => {
  const steps = 6;
  await fc.assert(
    fc.asyncProperty(histories(steps), async (history) => {
      await using lived = await replayHistory(history);
      using reader = new DisposableStack();
      const mirror = reader.adopt(openMirrorReader(lived.file), ({ close }) => close());
      const texts = [...lived.states.values()].map(textOf);
      for (let run = 1; run <= steps; run++) {
        const changed = texts.findLastIndex((text, n) => n >= 1 && n <= run && text !== texts[n - 1]);
        // If only the first run changed anything, or none did, nothing has changed since the first.
        const expected = changed > 1 ? changed - 1 : changed === 1 && run > 1 ? 1 : run > 1 ? run - 1 : null;
        expect(runBeforeLastChange(mirror, run)?.run ?? null).toBe(expected);
      }
    }),
    { numRuns: tries(6, 50), examples: [[backWithinOneRun], [goneAtFirst], [readInPart]] },
  );
});
