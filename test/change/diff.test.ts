/** Diffs are exact: for any history of a mirror, a diff of two runs turns one state into the other. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { changeWords } from "../../src/change/change.ts";
import { compareStates, diff } from "../../src/change/diff.ts";
import { openSnapshot, sourceAt } from "../../src/change/sources.ts";
import { urlOf } from "../mirror/support/world.ts";
import { tries } from "../support/thorough.ts";
import { histories, replayHistory } from "./support/histories.ts";
import { diffRuns, placeOf, proveDiffs } from "./support/prove-diffs.ts";

const brandHrefs = ["brands/a/", "brands/b/"].map(urlOf);
const fields = [
  "name",
  "bra_count",
  "last_modified_at",
  "manufacturer_stock_pictures",
  "gone_at",
  "brand_href",
];

it("a diff applied to the state of one run gives the state of the other, in both directions", async () => {
  await proveDiffs({ histories: tries(10, 50) });
});

it("a diff of two runs of a mirror equals the diff of two copies of the mirror", async () => {
  const steps = 7;
  const filters = fc.record({
    kinds: fc.subarray(["brand", "model", "size"]),
    brandHrefs: fc.subarray(brandHrefs),
    fields: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.subarray(fields)),
    ignored: fc.subarray(fields),
    words: fc.subarray([...changeWords]),
  });
  await fc.assert(
    fc.asyncProperty(
      histories(steps),
      fc.nat(steps),
      fc.nat(steps),
      filters,
      async (history, a, b, filter) => {
        await using mirror = await replayHistory(history);
        const { file } = mirror;
        const [before, after] = [a, b].map((run) =>
          openSnapshot(file, (mirror) => sourceAt(mirror, placeOf(file, run))),
        );
        if (before === undefined || after === undefined) throw new Error("two runs");
        const copies = compareStates(before, after);
        expect(diffRuns(file, a, b)).toEqual([...diff(copies)]);
        expect(diffRuns(file, a, b, filter)).toEqual([...diff(copies, filter)]);
        for (const source of [before, after]) source.close();
      },
    ),
    { numRuns: tries(4, 50) },
  );
});
