import { describe, expect, it } from "vitest";
import { frontierSource } from "../../src/sync/frontier-source.ts";
import type { PlannedResource } from "../../src/sync/plan/plan-request.ts";
import type { Planner } from "../../src/sync/plan/planner.ts";

/** Plans resources 1 to `count`, in this order, however many are asked for together. */
function plannerOf(count: number): Planner {
  const all = Array.from(
    { length: count },
    (_, index): PlannedResource => ({
      ...{ id: index + 1, url: `http://a.example/${index + 1}`, kind: "size", etag: null },
      ...{ reason: "new", isFree: false },
    }),
  );
  return { take: (limit, isTaken) => all.filter(({ id }) => !isTaken(id)).slice(0, limit) };
}

function start({ isPlentiful }: { readonly isPlentiful: boolean }) {
  const source = frontierSource(plannerOf(100), {
    concurrency: 4,
    isPlentiful: () => isPlentiful,
    isStopping: () => false,
  });
  return { source, take: (limit: number) => source.next(limit).map(({ resourceId }) => resourceId) };
}

describe("where every request counts", () => {
  it("nothing is asked for while as much as may be under way is not stored", () => {
    const { source, take } = start({ isPlentiful: false });
    expect(take(4)).toEqual([1, 2, 3, 4]);
    // The engine has answers, and room for more requests; but a kill now would lose what was answered.
    expect(take(4)).toEqual([]);
    source.noteIngested([1, 2], []);
    expect(take(4)).toEqual([5, 6]);
  });

  it("a new plan is made only when everything of the last one is stored", () => {
    const { source, take } = start({ isPlentiful: false });
    for (let first = 1; first <= 13; first += 4) {
      expect(take(4)).toEqual([first, first + 1, first + 2, first + 3]);
      if (first < 13) source.noteIngested([first, first + 1, first + 2, first + 3], []);
    }
    source.noteIngested([13, 14, 15], []);
    expect(take(4)).toEqual([]);
    source.noteIngested([16], []);
    expect(take(4)).toEqual([17, 18, 19, 20]);
  });
});

it("where much may be asked, it is asked for as fast as the engine wants it", () => {
  const { take } = start({ isPlentiful: true });
  expect(take(60)).toHaveLength(60);
  expect(take(60)).toHaveLength(40);
});

it("what failed is not given again in the same run", () => {
  const { source, take } = start({ isPlentiful: true });
  expect(take(99)).toHaveLength(99);
  source.noteIngested([1, 2, 3], [2]);
  expect(take(3)).toEqual([100]);
});
