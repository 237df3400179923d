/** Which responses of a list prove that a former item is gone, if a request for the item itself fails. */

import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { crawl, type MirrorRig, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { baseUrl, entity, page, root, urlOf, type World, worldOf } from "../support/world.ts";

let rig: MirrorRig;
let mirror: MirrorWriter;
beforeEach(async () => {
  rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
  return () => expect(problemsOf(mirror)).toEqual([]);
});

const list = "brands/";
const otherList = "brands/0/models/";
const brand = (n: number) => `brands/${n}/`;
const brands = (count: number) => Array.from({ length: count }, (_, n) => brand(n));
const removed = brand(5);

interface ListBody {
  self?: unknown;
  meta: Record<string, unknown> | null;
  collection: unknown[];
}

/** The list of brands on one page, which states its size. */
function listOf(count: number, change: (body: ListBody) => unknown = () => {}): object {
  const body = page(brands(count), null, {}, { collection_total: count }) as ListBody;
  change(body);
  return body;
}

const setMeta = (changes: object) => (body: ListBody) => Object.assign(body.meta ?? {}, changes);
const setItem = (item: unknown) => (body: ListBody) => body.collection.splice(5, 1, item);

/** Six brands; `brands/0/` has an empty list of models. */
function worldWith(...bodies: readonly Readonly<Record<string, object>>[]): Map<string, string> {
  const entities = Object.fromEntries(brands(6).map((path) => [path, entity({ name: path })]));
  const first = entity({ name: "first" }, { models: urlOf(otherList) });
  const models = page([], null, {}, { collection_total: 0 });
  return worldOf(
    Object.assign({ "/": root(), ...entities, [brand(0)]: first, [otherList]: models }, ...bodies),
  );
}

/** The removed brand's own response is no envelope, so that only a list can prove that it is gone. */
const brokenItem = (world: World): World => ({
  get: (url) => (url === urlOf(removed) ? "<html>" : world.get(url)),
});

/** In the order of their discovery, so that the list is read before its items. */
const crawlInOrder = (world: World) =>
  crawl(mirror, world, { choose: (due) => due.filter(({ kind }) => kind === due[0]?.kind) });

function stateOfRemoved(): unknown {
  return mirror.db
    .prepare("select state from _resource where url = ? and absent_by is null")
    .pluck()
    .get(urlOf(removed));
}

function partialDetails(): unknown[] {
  return mirror.db.prepare("select detail from _issue where code = 'partial-listing'").pluck().all();
}

const fullWorld = () => worldWith({ [list]: listOf(6) });

it.each([
  ["its total", '"collection_total":5', '"collection_total":6,"collection_total":5'],
  ["its items", '"collection":[', '"collection":[],"collection":['],
  ["its next page", '"next":null', `"next":"${urlOf("brands/?page=2")}","next":null`],
  ["something of an item", '"name":', '"name":"other","name":'],
])("a list that states %s twice proves nothing, whatever the last value says", async (_what, once, twice) => {
  await crawl(mirror, fullWorld());
  const world = worldWith({ [list]: listOf(5) });
  const text = world.get(urlOf(list)) ?? "";
  const repeated = text.replace(once, twice);
  expect(repeated).not.toBe(text);
  world.set(urlOf(list), repeated);
  await crawlInOrder(brokenItem(world));
  expect(stateOfRemoved()).not.toBe("gone");
});

describe("a list that states its size", () => {
  it.each<[string, (body: ListBody) => unknown]>([
    ["names itself", (body) => Object.assign(body, { self: urlOf(list) })],
    ["names itself by its path", (body) => Object.assign(body, { self: "/brands/" })],
    ["has a page_total that counts its items", setMeta({ page_total: 5 })],
    ["has a page_total that counts its pages", setMeta({ page_total: 1 })],
    ["names itself as the current page", setMeta({ current: urlOf(list) })],
  ])("proves an absence if it %s", (_title, change) => {
    crawlInOrder(fullWorld());
    const world = worldWith({ [list]: listOf(5, change) });
    expect(crawlInOrder(brokenItem(world))).toMatchObject({ gone: 1, partial: 0, failed: 0 });
  });

  it("proves an absence if its page_total counts only its pages with items", () => {
    const pagesOf = (count: number) => {
      const meta = { collection_total: count, page_total: 2 };
      return {
        [list]: page(brands(4), "p2", {}, { ...meta, current: urlOf(list) }),
        p2: page(brands(count).slice(4), "p3", {}, { ...meta, prev: urlOf(list) }),
        p3: page([], null, {}, { ...meta, prev: urlOf("a-cursor-of-page-2") }),
      };
    };
    crawlInOrder(worldWith(pagesOf(6)));
    expect(crawlInOrder(brokenItem(worldWith(pagesOf(5))))).toMatchObject({ gone: 1, partial: 0 });
  });
});

describe("a contradictory list", () => {
  it.each<[string, (body: ListBody) => unknown, string, number?]>([
    ["has an entry without an href", setItem({ name: "x" }), "has 1 entry without a usable address", 6],
    ["has an entry whose href is a number", setItem({ href: 3 }), "has 1 entry without a usable address", 6],
    ["has an entry that is null", setItem(null), "has 1 entry without a usable address", 6],
    ["has an entry that is a text", setItem("x"), "has 1 entry without a usable address", 6],
    [
      "has an entry at another origin",
      setItem({ href: "https://elsewhere.example/" }),
      "has 1 entry without a usable address",
      6,
    ],
    [
      "has an entry with a password",
      setItem({ href: `https://u:p@${new URL(baseUrl).host}/brands/5/` }),
      "has 1 entry without a usable address",
      6,
    ],
    ["lists itself", setItem({ href: urlOf(list) }), "lists 1 resource of another kind", 6],
    ["lists a list", setItem({ href: urlOf(otherList) }), "lists 1 resource of another kind", 6],
    ["states more pages than it has", setMeta({ page_total: 3 }), "says 3 pages, has 1"],
    [
      "states more pages than it has, and no size",
      setMeta({ page_total: 9, collection_total: null }),
      "says 9 pages, has 1",
    ],
    [
      "names itself as another list",
      (body) => Object.assign(body, { self: urlOf(otherList) }),
      "a page names the address of another resource as its own",
    ],
    [
      "names another list as the current page",
      setMeta({ current: urlOf(otherList) }),
      "a page names the address of another resource as its own",
    ],
    [
      "begins after another list",
      setMeta({ prev: urlOf(otherList) }),
      "a page names the address of another resource as its own",
    ],
  ])("a list that %s is partial and proves no absence", (_title, change, detail, count = 5) => {
    crawlInOrder(fullWorld());
    const world = brokenItem(worldWith({ [list]: listOf(count, change) }));
    for (const _run of [1, 2])
      expect(crawlInOrder(world)).toMatchObject({ gone: 0, awaitingApproval: 0, partial: 1 });
    expect(stateOfRemoved()).toBe("held");
    expect(partialDetails()).toEqual([detail]);
    mirror.rebuild();
    expect(partialDetails()).toEqual([detail]);
    expect(crawlInOrder(fullWorld())).toMatchObject({ partial: 0, gone: 0 });
    expect(partialDetails()).toEqual([]);
  });

  it("a later page that names a page of another list as the one before it makes its list partial", () => {
    const pagesOf = (count: number, prev: string) => ({
      [list]: page(brands(4), "p2", {}, { collection_total: count }),
      p2: page(brands(count).slice(4), null, {}, { collection_total: count, prev: urlOf(prev) }),
    });
    crawlInOrder(worldWith(pagesOf(6, list)));
    expect(crawlInOrder(brokenItem(worldWith(pagesOf(5, otherList))))).toMatchObject({ gone: 0, partial: 1 });
    expect(stateOfRemoved()).toBe("held");
  });
});

describe("a list without proof", () => {
  const changes: [string, (body: ListBody) => unknown][] = [
    ["has no meta", (body) => Object.assign(body, { meta: null })],
    ["has an empty meta", (body) => Object.assign(body, { meta: {} })],
    ["states no size", setMeta({ collection_total: null })],
    ["states a page_total that may be the size of a full page", setMeta({ page_total: 20 })],
    ["names itself by an unknown address", (body) => Object.assign(body, { self: urlOf("x") })],
    ["names an unknown address as the current page", setMeta({ current: urlOf("brands/?page=7") })],
    ["names itself at another origin", (body) => Object.assign(body, { self: "https://elsewhere.example/" })],
    ["has a page before it", setMeta({ prev: urlOf("brands/?page=0") })],
  ];

  it.each(changes)("a former item of a list that %s stays while its own request fails", (_title, change) => {
    crawlInOrder(fullWorld());
    const world = brokenItem(worldWith({ [list]: listOf(5, change) }));
    for (const _run of [1, 2]) {
      const { requested, ...report } = crawlInOrder(world);
      expect(report).toMatchObject({ gone: 0, awaitingApproval: 0, partial: 0, failed: 1 });
      expect(requested).toContain(urlOf(removed));
    }
    expect(stateOfRemoved()).toBe("held");
  });

  it.each(changes)(
    "a former item of a list that %s is gone once its own response is 404",
    (_title, change) => {
      crawlInOrder(fullWorld());
      const world = worldWith({ [list]: listOf(5, change) });
      world.delete(urlOf(removed));
      const { requested, gone } = crawlInOrder(world);
      expect(requested.filter((url) => url === urlOf(removed))).toHaveLength(1);
      expect(gone).toBe(1);
    },
  );

  it.each(changes)("a former item of a list that %s stays if it still exists", (_title, change) => {
    crawlInOrder(fullWorld());
    expect(crawlInOrder(worldWith({ [list]: listOf(5, change) }))).toMatchObject({ gone: 0, partial: 0 });
    expect(stateOfRemoved()).toBe("held");
  });

  it("former items of several pages without a size are requested, and the pages are not read twice", () => {
    const pagesOf = (count: number) => ({
      [list]: page(brands(4), "p2"),
      p2: page(brands(count).slice(4), null),
    });
    crawlInOrder(worldWith(pagesOf(6)));
    const { requested, gone } = crawlInOrder(brokenItem(worldWith(pagesOf(5))));
    expect(requested.filter((url) => url === urlOf(list))).toHaveLength(1);
    expect(requested).toContain(urlOf(removed));
    expect(gone).toBe(0);
    expect(stateOfRemoved()).toBe("held");
  });
});

it("held items of a list that lists many new ones instead wait for approval, also while those are not fetched", () => {
  crawlInOrder(fullWorld());
  const invented = Array.from({ length: 60 }, (_, n) => `invented/${n}/`);
  const world = worldWith({ [list]: page(invented, null, {}, { collection_total: 60 }) });
  // The root and the list.
  const report = crawl(mirror, world, { maxBatches: 2, choose: (due) => due.slice(0, 1) });
  expect(report).toMatchObject({ gone: 0, awaitingApproval: 6 });
});
