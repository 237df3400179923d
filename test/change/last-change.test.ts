import fc from "fast-check";
import { expect, it } from "vitest";
import { runBeforeLastChange } from "../../src/mirror/last-change.ts";
import { openMirrorReader } from "../../src/mirror/mirror.ts";
import { textOf } from "./apply.ts";
import { histories, liveThrough } from "./histories.ts";

it("what changed last begins before the last run that changed anything, whatever runs changed nothing since", async () => {
  const steps = 6;
  await fc.assert(
    fc.asyncProperty(histories(steps), async (history) => {
      await using lived = await liveThrough(history);
      const texts = [...lived.states.values()].map(textOf);
      const mirror = openMirrorReader(lived.file);
      try {
        for (let run = 1; run <= steps; run++) {
          const changed = texts.findLastIndex((text, n) => n >= 1 && n <= run && text !== texts[n - 1]);
          // Where only the first run has, or none, nothing has changed since the first.
          const expected =
            changed > 1 ? changed - 1 : changed === 1 && run > 1 ? 1 : run > 1 ? run - 1 : null;
          expect(runBeforeLastChange(mirror.db, run)?.run ?? null).toBe(expected);
        }
      } finally {
        mirror.close();
      }
    }),
    { numRuns: 15 },
  );
});
