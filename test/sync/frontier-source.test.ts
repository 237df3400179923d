import { describe, expect, it } from "vitest";
import type { Planner } from "../../src/sync/plan/planner.ts";
import type { PlannedResource } from "../../src/sync/plan/request.ts";
import { createJobSource } from "../../src/sync/run/job-source.ts";

/** Of resources 1 to 100 it plans those that are not stored, in this order. */
function start({ isAmple }: { readonly isAmple: boolean }) {
  const stored = new Set<number>();
  const all = Array.from(
    { length: 100 },
    (_, index): PlannedResource => ({
      ...{ id: index + 1, url: `http://a.example/${index + 1}`, kind: "size", etag: null },
      ...{ reason: "new", isFree: false },
    }),
  );
  const planner: Planner = {
    take: (limit, isTaken) => all.filter(({ id }) => !stored.has(id) && !isTaken(id)).slice(0, limit),
  };
  const source = createJobSource(planner, {
    concurrency: 4,
    isAmple: () => isAmple,
    isStopping: () => false,
  });
  return {
    take: (limit: number) => source.next(limit).map(({ resourceId }) => resourceId),
    ingest: (ids: readonly number[], failedIds: readonly number[] = []) => {
      for (const id of ids) if (!failedIds.includes(id)) stored.add(id);
      source.noteIngested(ids, failedIds);
    },
  };
}

describe("where every request counts", () => {
  it("nothing is asked for while as much as may be under way is not stored", () => {
    const { take, ingest } = start({ isAmple: false });
    expect(take(4)).toEqual([1, 2, 3, 4]);
    // The engine has answers, and room for more requests; but a kill now would lose what was answered.
    expect(take(4)).toEqual([]);
    ingest([1, 2]);
    expect(take(4)).toEqual([5, 6]);
  });

  it("a new plan is made only when everything of the last one is stored", () => {
    const { take, ingest } = start({ isAmple: false });
    for (let first = 1; first <= 13; first += 4) {
      expect(take(4)).toEqual([first, first + 1, first + 2, first + 3]);
      if (first < 13) ingest([first, first + 1, first + 2, first + 3]);
    }
    ingest([13, 14, 15]);
    expect(take(4)).toEqual([]);
    ingest([16]);
    expect(take(4)).toEqual([17, 18, 19, 20]);
  });
});

it("where much may be asked, it is asked for as fast as the engine wants it", () => {
  const { take } = start({ isAmple: true });
  expect(take(60)).toHaveLength(60);
  expect(take(60)).toHaveLength(40);
});

it("what failed is not given again in the same run", () => {
  const { take, ingest } = start({ isAmple: true });
  expect(take(99)).toHaveLength(99);
  ingest([1, 2, 3], [2]);
  expect(take(3)).toEqual([100]);
});
