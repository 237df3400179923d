/**
 * A listing that changes while it is read: between any two requests, items are added, removed and moved. No existing
 * item becomes a tombstone, and once the listing is stable, the mirror holds all its items.
 */

import fc from "fast-check";
import { expect, it } from "vitest";
import type { DueResource } from "../../../src/mirror/scope.ts";
import { tries } from "../../support/thorough.ts";
import { crawl, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { baseUrl, entity, page, root, urlOf, type World, worldOf } from "../support/world.ts";

type Change =
  | { readonly do: "insert" | "remove"; readonly at: number }
  | { readonly do: "move"; readonly at: number; readonly to: number };

/** A listing of brands that may change between requests. */
class ChangingListing implements World {
  items: string[];
  readonly #pageSize: number;
  readonly #statesTotal: boolean;
  #count = 0;

  constructor(size: number, pageSize: number, statesTotal: boolean) {
    this.#pageSize = pageSize;
    this.#statesTotal = statesTotal;
    this.items = Array.from({ length: size }, () => this.#newItem());
  }

  #newItem(): string {
    return `b/${this.#count++}/`;
  }

  change(change: Change): void {
    const { items } = this;
    const at = change.at % (items.length + 1);
    if (change.do === "move") items.splice(change.to % (items.length + 1), 0, ...items.splice(at, 1));
    else if (change.do === "insert") items.splice(at, 0, this.#newItem());
    else items.splice(at, 1);
  }

  get(url: string): string | undefined {
    const path = url.slice(baseUrl.length);
    if (path === "") return JSON.stringify(root());
    const [, number] = /^brands\/(?:\?page=(\d+))?$/.exec(path) ?? [null, null];
    if (path.startsWith("brands/")) return this.#page(Number(number ?? 1));
    return this.items.includes(path) ? JSON.stringify(entity({ name: path })) : undefined;
  }

  #page(number: number): string | undefined {
    const from = (number - 1) * this.#pageSize;
    const listed = this.items.slice(from, from + this.#pageSize);
    if (number > 1 && listed.length === 0) return undefined;
    const next = from + this.#pageSize < this.items.length ? `brands/?page=${number + 1}` : null;
    const more = this.#statesTotal ? { collection_total: this.items.length } : {};
    return JSON.stringify(page(listed, next, {}, more));
  }
}

const position = fc.nat(20);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ do: fc.constantFrom("insert" as const, "remove" as const), at: position }),
  fc.record({ do: fc.constant("move" as const), at: position, to: position }),
);
/** The changes before each request, and the number of requests of each run. */
const history = fc.record({
  size: fc.integer({ min: 1, max: 9 }),
  pageSize: fc.integer({ min: 1, max: 3 }),
  statesTotal: fc.boolean(),
  changes: fc.array(fc.array(change, { maxLength: 2 }), { maxLength: 30 }),
  budgets: fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 4 }),
  order: fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
});

it("no existing item becomes a tombstone, however its listing changes between pages", async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ size, pageSize, statesTotal, changes, budgets, order }) => {
      await using rig = await startMirrorRig();
      const mirror = await rig.write();
      const listing = new ChangingListing(size, pageSize, statesTotal);
      const remaining = [...changes];
      let turn = 0;
      const chooseOne = (due: readonly DueResource[]) => {
        for (const next of remaining.shift() ?? []) listing.change(next);
        const chosen = due[(order[turn++ % order.length] ?? 0) % due.length];
        return chosen ? [chosen] : [];
      };
      const expectNoLoss = () => {
        const gone = mirror.db
          .prepare<[], string>("select url from _resource where state = 'gone'")
          .pluck()
          .all();
        const live = new Set(listing.items.map(urlOf));
        expect(gone.filter((url) => live.has(url))).toEqual([]);
        expect(problemsOf(mirror)).toEqual([]);
      };

      crawl(mirror, listing, { approve: true });
      for (const maxBatches of budgets) {
        crawl(mirror, listing, { choose: chooseOne, maxBatches, approve: true });
        expectNoLoss();
      }
      for (let crawls = 0; crawls < 2; crawls++) crawl(mirror, listing, { approve: true });
      expectNoLoss();
      const held = mirror.db
        .prepare("select url from _resource where kind = 'brand' and state = 'held'")
        .pluck()
        .all();
      expect(held.sort()).toEqual(listing.items.map(urlOf).sort());
      expect(mirror.db.prepare("select count(*) from _pass").pluck().get()).toBe(0);
    }),
    { numRuns: tries(20, 1000) },
  );
});

it("a page with only known items, since items moved, does not end its chain", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const listing = new ChangingListing(6, 1, true);
  let requests = 0;
  const choose = (due: readonly DueResource[]) => {
    // An item is inserted at the front just before the request for the third page.
    if (due[0]?.kind === "brands" && requests++ === 2) listing.change({ do: "insert", at: 0 });
    return due.slice(0, 1);
  };
  expect(crawl(mirror, listing, { choose })).toMatchObject({ partial: 0 });
  const held = mirror.db
    .prepare("select url from _resource where kind = 'brand' and state = 'held'")
    .pluck()
    .all();
  expect(held.sort()).toEqual(listing.items.map(urlOf).sort());
});

it("a page that failed in an earlier run does not make its list be read without end", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const [first, second] = ["brands/", "brands/?page=2"];
  const worldWith = (name: string, pageTwo: object | string) =>
    worldOf({
      "/": root(),
      [first]: page([name], second, {}, { collection_total: 4 }),
      [second]: pageTwo,
      "a/": entity({ name: "A" }),
      "b/": entity({ name: "B" }),
      "c/": entity({ name: "C" }),
    });
  const choose = (due: readonly DueResource[]) => due.slice(0, 1);
  crawl(mirror, worldWith("a/", "no JSON"), { choose, maxBatches: 20 });
  const { requested } = crawl(mirror, worldWith("b/", page(["c/"], null, {}, { collection_total: 4 })), {
    choose,
    maxBatches: 50,
  });
  expect(requested.filter((url) => url === urlOf(first)).length).toBeLessThanOrEqual(2);
  expect(requested.filter((url) => url === urlOf(second)).length).toBeLessThanOrEqual(2);
  expect(problemsOf(mirror)).toEqual([]);
});
