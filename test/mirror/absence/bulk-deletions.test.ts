/** How many resources may be missing at once without approval. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decideAbsences,
  type LiveCounts,
  type NotedAbsence,
} from "../../../src/mirror/absence/bulk-deletions.ts";

const noted = (id: number, more: Partial<NotedAbsence> = {}): NotedAbsence => ({
  ...{ id, kind: "brand", isHeld: true, collectionId: 1, parentId: null, isBelowTombstone: false },
  ...more,
});
const allHeld = (all: number) => ({ all, held: all });
const live = (inCollection: number, ofKind = 1000): LiveCounts => ({
  inCollection: () => allHeld(inCollection),
  ofKind: () => allHeld(ofKind),
});
const notedMany = (count: number, more: Partial<NotedAbsence> = {}) =>
  Array.from({ length: count }, (_, n) => noted(100 + n, more));

describe("per listing", () => {
  it.each([
    [1, 1, true],
    [1, 3, true],
    [2, 9, false],
    [2, 10, true],
    [8, 40, true],
    [9, 40, false],
    [40, 40, false],
  ])("%i missing of %i items: tombstones without approval: %s", (absent, of, isDecided) => {
    const { goneIds, awaitingApproval, bulkDeletions } = decideAbsences(notedMany(absent), live(of));
    expect(goneIds).toHaveLength(isDecided ? absent : 0);
    expect(awaitingApproval).toBe(isDecided ? 0 : absent);
    expect(bulkDeletions).toEqual(isDecided ? [] : [{ kind: "brand", collectionId: 1, absent, of }]);
  });

  it("a bulk deletion in one listing does not delay other listings", () => {
    const elsewhereItem = noted(7, { collectionId: 2 });
    const inCollection = (id: number) => allHeld(id === 1 ? 10 : 50);
    const { goneIds } = decideAbsences([...notedMany(5), elsewhereItem], {
      inCollection,
      ofKind: () => allHeld(1000),
    });
    expect(goneIds).toEqual([7]);
  });

  it("any number of new items does not make the loss of the held ones small", () => {
    const counts = { inCollection: () => ({ all: 230, held: 30 }), ofKind: () => allHeld(1000) };
    expect(decideAbsences(notedMany(30), counts)).toMatchObject({
      goneIds: [],
      bulkDeletions: [{ absent: 30, of: 30 }],
    });
    // Those of a large list that were only listed so far.
    expect(decideAbsences(notedMany(30, { isHeld: false }), counts).goneIds).toHaveLength(30);
  });
});

describe("per kind", () => {
  it("many missing items of different listings are a bulk deletion of their kind", () => {
    const singles = Array.from({ length: 30 }, (_, n) => noted(n, { collectionId: 1000 + n }));
    const { goneIds, bulkDeletions } = decideAbsences(singles, live(1, 100));
    expect(goneIds).toEqual([]);
    expect(bulkDeletions).toEqual([{ kind: "brand", collectionId: null, absent: 30, of: 100 }]);
  });

  it("many missing listings are a bulk deletion of their kind", () => {
    const listings = notedMany(30, { kind: "models", collectionId: null });
    expect(decideAbsences(listings, live(0, 100)).awaitingApproval).toBe(30);
    expect(decideAbsences(listings, live(0, 200)).awaitingApproval).toBe(0);
  });
});

describe("descendants", () => {
  it("resources below an absent one become tombstones with it and do not count as a bulk deletion", () => {
    const { goneIds } = decideAbsences([noted(1), ...notedMany(9, { parentId: 1 })], live(9));
    expect(goneIds).toHaveLength(10);
    expect(decideAbsences(notedMany(9, { isBelowTombstone: true }), live(9)).goneIds).toHaveLength(9);
  });

  it("resources below an absent one that waits for approval wait too", () => {
    const grandchild = noted(500, { parentId: 100 });
    expect(decideAbsences([...notedMany(9), grandchild], live(9))).toMatchObject({
      goneIds: [],
      awaitingApproval: 10,
    });
  });
});

it("every noted absence either becomes a tombstone or waits, once", () => {
  const absences = fc.array(
    fc.record({
      collection: fc.option(fc.integer({ min: 1, max: 3 })),
      parent: fc.option(fc.nat(30)),
      isBelow: fc.boolean(),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(absences, fc.integer({ min: 1, max: 60 }), (generated, of) => {
      const all = generated.map(({ collection, parent, isBelow }, id) => {
        // Only earlier ones, so that no resource belongs to itself.
        const parentId = parent !== null && parent < id ? parent : null;
        return noted(id, { collectionId: collection, parentId, isBelowTombstone: isBelow });
      });
      const { goneIds, awaitingApproval, bulkDeletions } = decideAbsences(all, live(of, of));
      expect(new Set(goneIds).size).toBe(goneIds.length);
      expect(goneIds.length + awaitingApproval).toBe(all.length);
      expect(awaitingApproval > 0).toBe(bulkDeletions.length > 0);
    }),
  );
});
