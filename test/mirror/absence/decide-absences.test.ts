/** How much may go at once without being asked about. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decideAbsences,
  type LiveCounts,
  type NotedAbsence,
} from "../../../src/mirror/absence/bulk-deletions.ts";

const noted = (id: number, more: Partial<NotedAbsence> = {}): NotedAbsence => ({
  ...{ id, kind: "brand", collectionId: 1, parentId: null, isBelowTombstone: false },
  ...more,
});
const live = (inCollection: number, ofKind = 1000): LiveCounts => ({
  inCollection: () => inCollection,
  ofKind: () => ofKind,
});
const several = (count: number, more: Partial<NotedAbsence> = {}) =>
  Array.from({ length: count }, (_, n) => noted(100 + n, more));

describe("of a list", () => {
  it.each([
    [1, 1, true],
    [1, 3, true],
    [2, 9, false],
    [2, 10, true],
    [8, 40, true],
    [9, 40, false],
    [40, 40, false],
  ])("%i of %i gone at once: decided %s", (absent, of, isDecided) => {
    const { goneIds, waiting, masses } = decideAbsences(several(absent), live(of));
    expect(goneIds).toHaveLength(isDecided ? absent : 0);
    expect(waiting).toBe(isDecided ? 0 : absent);
    expect(masses).toEqual(isDecided ? [] : [{ kind: "brand", collectionId: 1, absent, of }]);
  });

  it("a mass holds up no other list", () => {
    const other = noted(7, { collectionId: 2 });
    const inCollection = (id: number) => (id === 1 ? 10 : 50);
    const { goneIds } = decideAbsences([...several(5), other], { inCollection, ofKind: () => 1000 });
    expect(goneIds).toEqual([7]);
  });
});

describe("of a kind", () => {
  it("many lists of one item each are a mass together", () => {
    const singles = Array.from({ length: 30 }, (_, n) => noted(n, { collectionId: 1000 + n }));
    const { goneIds, masses } = decideAbsences(singles, live(1, 100));
    expect(goneIds).toEqual([]);
    expect(masses).toEqual([{ kind: "brand", collectionId: null, absent: 30, of: 100 }]);
  });

  it("so are lists themselves, which are items of none", () => {
    const lists = several(30, { kind: "models", collectionId: null });
    expect(decideAbsences(lists, live(0, 100)).waiting).toBe(30);
    expect(decideAbsences(lists, live(0, 200)).waiting).toBe(0);
  });
});

describe("what belongs to something absent", () => {
  it("goes with it, and is no mass of its own", () => {
    const { goneIds } = decideAbsences([noted(1), ...several(9, { parentId: 1 })], live(9));
    expect(goneIds).toHaveLength(10);
    expect(decideAbsences(several(9, { isBelowTombstone: true }), live(9)).goneIds).toHaveLength(9);
  });

  it("waits with it", () => {
    const grandchild = noted(500, { parentId: 100 });
    expect(decideAbsences([...several(9), grandchild], live(9))).toMatchObject({ goneIds: [], waiting: 10 });
  });
});

it("nothing is lost or decided twice", () => {
  const absences = fc.array(
    fc.record({
      collection: fc.option(fc.integer({ min: 1, max: 3 })),
      parent: fc.option(fc.nat(30)),
      isBelow: fc.boolean(),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(absences, fc.integer({ min: 1, max: 60 }), (drawn, of) => {
      const all = drawn.map(({ collection, parent, isBelow }, id) => {
        // Only what comes before it, so that nothing belongs to itself.
        const parentId = parent !== null && parent < id ? parent : null;
        return noted(id, { collectionId: collection, parentId, isBelowTombstone: isBelow });
      });
      const { goneIds, waiting, masses } = decideAbsences(all, live(of, of));
      expect(new Set(goneIds).size).toBe(goneIds.length);
      expect(goneIds.length + waiting).toBe(all.length);
      expect(waiting > 0).toBe(masses.length > 0);
    }),
  );
});
