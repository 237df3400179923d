/**
 * A list that changes while it is read: between any two requests items come, go and move. Whatever that makes the pages say,
 * nothing that is there becomes a tombstone, and once the list rests, the mirror holds what it lists.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { DueResource } from "../../../src/mirror/check-cycle.ts";
import { tries } from "../../support/thorough.ts";
import { problemsOf, startMirrorRig, walk } from "../support/mirror-rig.ts";
import { baseUrl, entity, page, root, urlOf, type World } from "../support/world.ts";

type Change =
  | { readonly do: "insert" | "remove"; readonly at: number }
  | { readonly do: "move"; readonly at: number; readonly to: number };

/** A list of brands that lives: each request may find it changed. */
class LivingList implements World {
  items: string[];
  readonly #pageSize: number;
  readonly #tellsTotal: boolean;
  #count = 0;

  constructor(size: number, pageSize: number, tellsTotal: boolean) {
    this.#pageSize = pageSize;
    this.#tellsTotal = tellsTotal;
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
    const more = this.#tellsTotal ? { collection_total: this.items.length } : {};
    return JSON.stringify(page(listed, next, {}, more));
  }
}

const position = fc.nat(20);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ do: fc.constantFrom("insert" as const, "remove" as const), at: position }),
  fc.record({ do: fc.constant("move" as const), at: position, to: position }),
);
/** What happens before each request, and after how many requests each run ends. */
const history = fc.record({
  size: fc.integer({ min: 1, max: 9 }),
  pageSize: fc.integer({ min: 1, max: 3 }),
  tellsTotal: fc.boolean(),
  changes: fc.array(fc.array(change, { maxLength: 2 }), { maxLength: 30 }),
  budgets: fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 4 }),
  order: fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
});

it("whatever happens between its pages, nothing that is there becomes a tombstone", async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ size, pageSize, tellsTotal, changes, budgets, order }) => {
      await using rig = await startMirrorRig();
      const mirror = await rig.write();
      const list = new LivingList(size, pageSize, tellsTotal);
      const left = [...changes];
      let turn = 0;
      const oneAfterAnother = (due: readonly DueResource[]) => {
        for (const next of left.shift() ?? []) list.change(next);
        const chosen = due[(order[turn++ % order.length] ?? 0) % due.length];
        return chosen ? [chosen] : [];
      };
      const expectNoneLost = () => {
        const gone = mirror.db
          .prepare<[], string>("select url from _resource where state = 'gone'")
          .pluck()
          .all();
        const live = new Set(list.items.map(urlOf));
        expect(gone.filter((url) => live.has(url))).toEqual([]);
        expect(problemsOf(mirror)).toEqual([]);
      };

      walk(mirror, list, { approve: true });
      for (const maxBatches of budgets) {
        walk(mirror, list, { choose: oneAfterAnother, maxBatches, approve: true });
        expectNoneLost();
      }
      for (let walks = 0; walks < 2; walks++) walk(mirror, list, { approve: true });
      expectNoneLost();
      const held = mirror.db
        .prepare("select url from _resource where kind = 'brand' and state = 'held'")
        .pluck()
        .all();
      expect(held.sort()).toEqual(list.items.map(urlOf).sort());
      expect(mirror.db.prepare("select count(*) from _pass").pluck().get()).toBe(0);
    }),
    { numRuns: tries(40, 1000) },
  );
});

it("a page that lists only what is known already, since items moved, does not end its chain", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const list = new LivingList(6, 1, true);
  let asked = 0;
  const choose = (due: readonly DueResource[]) => {
    // Just before the third page is asked for, something comes in at the front.
    if (due[0]?.kind === "brands" && asked++ === 2) list.change({ do: "insert", at: 0 });
    return due.slice(0, 1);
  };
  expect(walk(mirror, list, { choose })).toMatchObject({ partial: 0 });
  const held = mirror.db
    .prepare("select url from _resource where kind = 'brand' and state = 'held'")
    .pluck()
    .all();
  expect(held.sort()).toEqual(list.items.map(urlOf).sort());
});
