/** Which readings of a list are a proof, for lists of any size and defects at any place. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { type ChainPage, findChainFault, isProof } from "../../../src/mirror/absence/page-chain.ts";

/** The pages of a list with these numbers of items, which states its size and as `page_total` one of its meanings. */
function pagesOf(counts: readonly number[], meaning: "pages" | "items" | "none"): ChainPage[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((items, n) => ({
    ...{ id: n + 1, collectionId: 1, nextId: n + 1 < counts.length ? n + 2 : null },
    ...{ checkedRun: 1, seq: 1, items, unusableEntries: 0, foreignItems: 0, total },
    pageTotal: { pages: counts.length, items, none: null }[meaning],
    ...{ doubt: null, hasEtag: 1, isFailing: 0, hasOddTotal: 0, cut: null, isLoaded: 0 },
  }));
}

const proves = (pages: readonly ChainPage[]) => findChainFault(pages, 0) === null && isProof(pages);

const counts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 });
const meaning = fc.constantFrom("pages", "items", "none");

it("a list that was read as a whole proves an absence", () => {
  fc.assert(
    fc.property(counts, meaning, (items, means) => {
      expect(proves(pagesOf(items, means))).toBe(true);
    }),
  );
});

it("a list with one defect, on any page, proves nothing", () => {
  const defects: readonly Partial<ChainPage>[] = [
    { unusableEntries: 1 },
    { foreignItems: 1 },
    { doubt: "other-page" },
    { doubt: "other-address" },
    { isFailing: 1 },
    { hasOddTotal: 1 },
    { cut: "other" },
    { isLoaded: 1 },
    { seq: null, items: 0, total: null, pageTotal: null },
    { pageTotal: 30 },
  ];
  fc.assert(
    fc.property(counts, meaning, fc.nat(), fc.constantFrom(...defects), (items, means, at, defect) => {
      const pages = pagesOf(items, means).map((page, n) =>
        n === at % items.length ? { ...page, ...defect } : page,
      );
      expect(proves(pages)).toBe(false);
    }),
  );
});

it("a list proves nothing if a page lost an item, or if it ends early, whatever else it states", () => {
  fc.assert(
    fc.property(counts, meaning, fc.nat(), (items, means, at) => {
      const pages = pagesOf(items, means);
      const lost = pages.map((page, n) =>
        n === at % items.length ? { ...page, items: page.items - 1 } : page,
      );
      expect(proves(lost)).toBe(false);
      const rest = pages.slice(0, at % items.length);
      const ended = rest.map((page, n) => (n + 1 === rest.length ? { ...page, nextId: null } : page));
      if (ended.length > 0) expect(proves(ended)).toBe(false);
    }),
  );
});

it("a list without a stated size proves nothing", () => {
  fc.assert(
    fc.property(counts, meaning, (items, means) => {
      expect(proves(pagesOf(items, means).map((page) => ({ ...page, total: null })))).toBe(false);
    }),
  );
});

it("pages that state only their own number of items prove nothing together", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 6 }), (items) => {
      const pages = pagesOf(items, "none").map((page) => ({ ...page, total: page.items }));
      expect(isProof(pages)).toBe(false);
    }),
  );
});
