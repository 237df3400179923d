import { describe, expect, it } from "vitest";
import type { Planner } from "../../../src/sync/plan/planner.ts";
import type { PlannedResource } from "../../../src/sync/plan/request.ts";
import { createJobSource } from "../../../src/sync/run/job-source.ts";

/** A source of resources 1 to 100, planned in this order until they are stored. */
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
    failed: new Set(),
  });
  return {
    take: (limit: number) => source.next(limit).map(({ resourceId }) => resourceId),
    ingest: (ids: readonly number[], failedIds: readonly number[] = []) => {
      for (const id of ids) if (!failedIds.includes(id)) stored.add(id);
      source.noteIngested(ids, failedIds);
    },
  };
}

describe("with a small allowance", () => {
  it("no job is given while `concurrency` results are not stored", () => {
    const { take, ingest } = start({ isAmple: false });
    expect(take(4)).toEqual([1, 2, 3, 4]);
    // The engine has capacity again, but a kill now would lose these results.
    expect(take(4)).toEqual([]);
    ingest([1, 2]);
    expect(take(4)).toEqual([5, 6]);
  });

  it("the next plan waits until all results of the last one are stored", () => {
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

it("with an ample allowance, jobs are given as fast as the engine takes them", () => {
  const { take } = start({ isAmple: true });
  expect(take(60)).toHaveLength(60);
  expect(take(60)).toHaveLength(40);
});

it("a failed resource is not given again in the same run", () => {
  const { take, ingest } = start({ isAmple: true });
  expect(take(99)).toHaveLength(99);
  ingest([1, 2, 3], [2]);
  expect(take(3)).toEqual([100]);
});
