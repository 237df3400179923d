/** Collections with several pages: ownership of items, endless chains, and pages that leave their chain. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { crawl, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { baseUrl, entity, page, root, urlOf, type World, worldOf } from "../support/world.ts";

let mirror: MirrorWriter;
beforeEach(async () => {
  const rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
});

const first = "brands/";
const paths = (numbers: readonly number[]) => numbers.map((n) => `brands/${n}/`);
const brandBodies = Object.fromEntries(
  Array.from({ length: 20 }, (_, n) => [`brands/${n}/`, entity({ name: `Brand ${n}`, slug: String(n) })]),
);
/** A world with these pages of brands. */
const listing = (pages: Readonly<Record<string, object>>): Map<string, string> =>
  worldOf({ "/": root(), ...brandBodies, ...pages });

function stateOf(path: string): unknown {
  return mirror.db.prepare("select state from _resource where url = ?").pluck().get(urlOf(path));
}

function statesOf(...some: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(some.map((path) => [path, stateOf(path)]));
}

/** The URLs of the pages in the mirror, from the first one on. */
function chain(): string[] {
  const dump = canonicalDump(mirror);
  const urls: string[] = [];
  for (let url: string | null | undefined = urlOf(first); url && !urls.includes(url); url = dump[url]?.next) {
    urls.push(url);
  }
  return urls;
}

function loops(): unknown[] {
  return mirror.db
    .prepare("select r.url from _issue i join _resource r on r.id = i.resource_id where i.code = 'page-loop'")
    .pluck()
    .all();
}

function brandsHeld(): unknown[] {
  return mirror.db
    .prepare("select url from _resource where kind = 'brand' and state = 'held' order by id")
    .pluck()
    .all();
}

const asUrls = (relative: readonly string[]) => relative.map(urlOf);

describe("chains", () => {
  it("a chain of pages is read to its end, whatever its URLs", () => {
    const world = listing({
      [first]: page(paths([0, 1]), "zz?cursor=q"),
      "zz?cursor=q": page(paths([2, 3]), "other/path/?page=9"),
      "other/path/?page=9": page(paths([4])),
    });
    const { requested } = crawl(mirror, world);
    expect(chain()).toEqual(asUrls([first, "zz?cursor=q", "other/path/?page=9"]));
    expect(brandsHeld()).toEqual(asUrls(paths([0, 1, 2, 3, 4])));
    expect(new Set(requested).size).toBe(requested.length);
    expect(loops()).toEqual([]);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("items belong to their collection, not to the page that lists them", () => {
    const world = worldOf({
      "/": root(),
      "brands/": page(["b/"]),
      "b/": entity({ name: "B" }, { models: urlOf("b/models/") }),
      "b/models/": page(["m/1/"], "b/models/2/"),
      "b/models/2/": page(["m/2/"]),
      "m/1/": entity({ name: "one" }),
      "m/2/": entity({ name: "two" }),
    });
    crawl(mirror, world);
    const owners = mirror.db.prepare("select href, brand_href from model order by href").raw().all();
    expect(owners).toEqual([
      [urlOf("m/1/"), urlOf("b/")],
      [urlOf("m/2/"), urlOf("b/")],
    ]);
    const belongTo = mirror.db
      .prepare("select o.url from _resource r join _resource o on o.id = r.owner_id where r.url = ?")
      .pluck();
    expect(belongTo.get(urlOf("m/2/"))).toBe(urlOf("b/models/"));
    expect(belongTo.get(urlOf("b/models/2/"))).toBe(urlOf("b/"));
  });

  it("an item that moves to another page stays held", () => {
    const world = listing({ [first]: page(paths([0, 1]), "p2"), p2: page(paths([2])) });
    crawl(mirror, world);
    for (const [path, body] of listing({ [first]: page(paths([0]), "p2"), p2: page(paths([1, 2])) })) {
      world.set(path, body);
    }
    crawl(mirror, world);
    expect(brandsHeld()).toEqual(asUrls(paths([0, 1, 2])));
    const listedBy = mirror.db
      .prepare(
        "select p.url from _member m join _resource p on p.id = m.page_id join _resource i on i.id = m.item_id where i.url = ?",
      )
      .pluck();
    expect(listedBy.all(urlOf("brands/1/"))).toEqual([urlOf("p2")]);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("an item that is listed twice is requested once", () => {
    const world = listing({ [first]: page(paths([0, 1, 1]), "p2"), p2: page(paths([1, 2])) });
    const { requested } = crawl(mirror, world);
    expect(requested.filter((url) => url === urlOf("brands/1/"))).toHaveLength(1);
    expect(problemsOf(mirror)).toEqual([]);
  });
});

describe("endless chains", () => {
  /** Stops after 60 batches, which an endless chain would exceed. */
  function crawlBounded(world: World): readonly string[] {
    const { requested } = crawl(mirror, world, { maxBatches: 60 });
    expect(crawl(mirror, world, { maxBatches: 60 }).requested.length).toBeLessThan(40);
    expect(problemsOf(mirror)).toEqual([]);
    return requested;
  }

  it.each<[string, Record<string, object>, string[]]>([
    ["whose first page links to itself", { [first]: page(paths([0, 1]), first) }, [first]],
    [
      "that returns to its first page",
      { [first]: page(paths([0]), "p2"), p2: page(paths([1]), "p3"), p3: page(paths([2]), first) },
      [first, "p2", "p3"],
    ],
    [
      "with a circle of later pages",
      { [first]: page(paths([0]), "p2"), p2: page(paths([1]), "p3"), p3: page(paths([2]), "p2") },
      [first, "p2", "p3"],
    ],
    [
      "with a later page that links to itself",
      { [first]: page(paths([0]), "p2"), p2: page(paths([1]), "p2") },
      [first, "p2"],
    ],
  ])("a chain %s is stored and reported, and no page is requested twice", (_shape, pages, urls) => {
    const requested = crawlBounded(listing(pages));
    expect(chain()).toEqual(asUrls(urls));
    expect(requested.filter((url) => asUrls(urls).includes(url)).sort()).toEqual(asUrls(urls).sort());
    expect(loops()).toHaveLength(1);
    expect(statesOf(...urls)).toEqual(Object.fromEntries(urls.map((path) => [path, "held"])));
  });

  it("a chain that continues with known items under new URLs is cut", () => {
    const pages = listing({ [first]: page(paths([0, 1]), "p?1") });
    const endless: World = {
      get(url) {
        const number = /\/p\?(\d+)$/.exec(url)?.[1];
        return number === undefined
          ? pages.get(url)
          : JSON.stringify(page(paths([0, 1]), `p?${Number(number) + 1}`));
      },
    };
    crawlBounded(endless);
    expect(loops()).toEqual([urlOf("p?4")]);
  });

  it("an endless chain that is not connected to its first page is cut", () => {
    const pages = listing({
      [first]: page(paths([0]), "p2"),
      p2: page(paths([1]), "p3"),
      p3: page(paths([2]), "p?0"),
    });
    const endless: World = {
      get(url) {
        const number = /\/p\?(\d+)$/.exec(url)?.[1];
        return number === undefined
          ? pages.get(url)
          : JSON.stringify(page(paths([5]), `p?${Number(number) + 1}`));
      },
    };
    crawl(mirror, pages);
    pages.set(urlOf("p2"), JSON.stringify(page(paths([1]), "p2")));
    pages.set(urlOf("p3"), JSON.stringify(page(paths([3]), "p?0")));
    crawlBounded(endless);
  });

  it("a chain that continues with empty pages under new URLs is cut", () => {
    const pages = listing({ [first]: page(paths([0, 1]), "p?1") });
    const endless: World = {
      get(url) {
        const number = /\/p\?(\d+)$/.exec(url)?.[1];
        return number === undefined ? pages.get(url) : JSON.stringify(page([], `p?${Number(number) + 1}`));
      },
    };
    crawlBounded(endless);
    expect(loops()).toEqual([urlOf("p?4")]);
  });

  it("a chain is followed again once its loop is gone", () => {
    const world = listing({ [first]: page(paths([0]), "p2"), p2: page(paths([1]), first) });
    crawl(mirror, world);
    world.set(urlOf("p2"), JSON.stringify(page(paths([1]), "p3")));
    world.set(urlOf("p3"), JSON.stringify(page(paths([2]))));
    crawl(mirror, world);
    expect(chain()).toEqual(asUrls([first, "p2", "p3"]));
    expect(brandsHeld()).toContain(urlOf("brands/2/"));
  });
});

describe("wrong next page", () => {
  it("an entity linked as the next page is not followed and stays an entity", () => {
    const world = listing({ [first]: page(paths([0, 1]), "brands/0/") });
    crawl(mirror, world);
    expect(loops()).toEqual([urlOf(first)]);
    world.set(urlOf(first), JSON.stringify(page(paths([0, 1]))));
    crawl(mirror, world);
    expect(stateOf("brands/0/")).toBe("held");
    world.delete(urlOf("brands/0/"));
    crawl(mirror, world);
    expect(stateOf("brands/0/")).toBe("gone");
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("another collection linked as the next page keeps its own items", () => {
    const world = worldOf({
      "/": root(),
      "brands/": page(["a/", "b/"]),
      "a/": entity({ name: "A" }, { models: urlOf("a/models/") }),
      "b/": entity({ name: "B" }, { models: urlOf("b/models/") }),
      "a/models/": page(["m/1/"], "b/models/"),
      "b/models/": page(["m/2/"]),
      "m/1/": entity({ name: "one" }),
      "m/2/": entity({ name: "two" }),
    });
    crawl(mirror, world);
    expect(mirror.db.prepare("select name, brand_href from model order by name").raw().all()).toEqual([
      ["one", urlOf("a/")],
      ["two", urlOf("b/")],
    ]);
  });

  it("a next page at another origin is not followed", () => {
    const elsewhere = { ...page(paths([0])), meta: { next: "https://elsewhere.example/p2" } };
    const { requested } = crawl(mirror, listing({ [first]: elsewhere }));
    expect(requested.every((url) => url.startsWith(baseUrl))).toBe(true);
    expect(chain()).toEqual([urlOf(first)]);
  });
});

describe("pages outside the chain", () => {
  const three = {
    [first]: page(paths([0]), "p2"),
    p2: page(paths([1]), "p3"),
    p3: page(paths([2])),
  };

  it("a page that leaves the chain is superseded, neither gone nor requested again", () => {
    const world = listing(three);
    crawl(mirror, world);
    world.set(urlOf(first), JSON.stringify(page(paths([0, 1, 2]))));
    crawl(mirror, world);
    expect(statesOf(first, "p2", "p3")).toEqual({ [first]: "held", p2: "superseded", p3: "superseded" });
    expect(crawl(mirror, world).requested).not.toContain(urlOf("p2"));
    expect(brandsHeld()).toEqual(asUrls(paths([0, 1, 2])));
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a page that returns 404 is superseded, not gone", () => {
    const world = listing(three);
    crawl(mirror, world);
    world.delete(urlOf("p3"));
    expect(crawl(mirror, world).gone).toBe(0);
    expect(stateOf("p3")).toBe("superseded");
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a page that returned 404 once is requested again, although no page changed", () => {
    const world = listing(three);
    crawl(mirror, world);
    const p2 = world.get(urlOf("p2")) ?? "";
    world.delete(urlOf("p2"));
    crawl(mirror, world);
    expect(statesOf("p2", "p3")).toEqual({ p2: "superseded", p3: "held" });
    world.set(urlOf("p2"), p2);
    crawl(mirror, world);
    expect(statesOf("p2", "p3")).toEqual({ p2: "held", p3: "held" });
    expect(problemsOf(mirror)).toEqual([]);
  });

  it.each([
    ["unchanged", "held"],
    ["changed", "held"],
    ["gone", "superseded"],
    ["failing", "failed"],
  ])("a superseded page that is linked again is requested again (%s, then %s)", (state, expected) => {
    const world = listing(three);
    crawl(mirror, world);
    world.set(urlOf(first), JSON.stringify(page(paths([0, 1, 2]))));
    crawl(mirror, world);
    world.set(urlOf(first), JSON.stringify(page(paths([0]), "p2")));
    if (state === "changed") world.set(urlOf("p2"), JSON.stringify(page(paths([1, 3]), "p3")));
    if (state === "gone") world.delete(urlOf("p2"));
    if (state === "failing") world.set(urlOf("p2"), "<html>");
    const { requested } = crawl(mirror, world);
    expect(requested).toContain(urlOf("p2"));
    expect(problemsOf(mirror)).toEqual([]);
    expect(stateOf("p2")).toBe(expected);
    if (state === "unchanged") expect(chain()).toEqual(asUrls([first, "p2", "p3"]));
  });
});

describe("shuffled chains", () => {
  it("with cursors that contain the previous item, every page of a shifted chain is read", () => {
    // An item is inserted at the front: every cursor changes, while each page has known items.
    const world = listing({
      [first]: page(paths([1, 2]), "after/2"),
      "after/2": page(paths([3, 4]), "after/4"),
      "after/4": page(paths([5, 6])),
    });
    crawl(mirror, world);
    for (const [url, body] of listing({
      [first]: page(paths([0, 1]), "after/1"),
      "after/1": page(paths([2, 3]), "after/3"),
      "after/3": page(paths([4, 5]), "after/5"),
      "after/5": page(paths([6, 7])),
    })) {
      world.set(url, body);
    }
    world.delete(urlOf("after/2"));
    world.delete(urlOf("after/4"));
    crawl(mirror, world);
    expect(chain()).toEqual(asUrls([first, "after/1", "after/3", "after/5"]));
    expect(brandsHeld()).toContain(urlOf("brands/7/"));
    expect(loops()).toEqual([]);
    expect(statesOf("after/2", "after/4")).toEqual({ "after/2": "superseded", "after/4": "superseded" });
  });

  it("two pages that change places are no loop, in whatever order they are read", () => {
    const before = {
      [first]: page(paths([0]), "p2"),
      p2: page(paths([1]), "p3"),
      p3: page(paths([2])),
    };
    const after = {
      [first]: page(paths([0]), "p3"),
      p3: page(paths([2]), "p2"),
      p2: page(paths([1, 3])),
    };
    const world = listing(before);
    crawl(mirror, world);
    for (const [url, body] of listing(after)) world.set(url, body);
    const last = (url: string) => Number(url === urlOf("p2"));
    crawl(mirror, world, { choose: (due) => [...due].sort((a, b) => last(a.url) - last(b.url)).slice(0, 1) });
    expect(chain()).toEqual(asUrls([first, "p3", "p2"]));
    expect(brandsHeld()).toContain(urlOf("brands/3/"));
    expect(statesOf("p2", "p3")).toEqual({ p2: "held", p3: "held" });
  });

  /** A listing whose next page is always a new one. @param bodyOf by the number of the page */
  const endless = (bodyOf: (n: number) => object): World & { readonly pages: () => number } => {
    const others = worldOf({ "/": root({ brands: urlOf("endless/0") }) });
    const requested = new Set<string>();
    return {
      pages: () => requested.size,
      get(url) {
        const [, n] = /\/endless\/(\d+)$/.exec(url) ?? [];
        if (n === undefined) return others.get(url) ?? JSON.stringify(entity({ name: url, slug: "brand" }));
        requested.add(url);
        return JSON.stringify(bodyOf(Number(n)));
      },
    };
  };

  it("a listing with a new item on every third page only, and ever new pages, is cut", () => {
    const world = endless((n) => page(n % 3 === 0 ? [`brands/${n}/`] : [], `endless/${n + 1}`));
    crawl(mirror, world);
    expect(world.pages()).toBe(64);
    expect(loops()).toEqual([urlOf("endless/63")]);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a listing with far more items than it states, and ever new pages, is cut", () => {
    const items = (n: number) => Array.from({ length: 20 }, (_, item) => `brands/${n}-${item}/`);
    const world = endless((n) => page(items(n), `endless/${n + 1}`, {}, { collection_total: 10 }));
    crawl(mirror, world, { choose: (due) => due.filter(({ kind }) => kind !== "brand"), maxBatches: 200 });
    expect(world.pages()).toBe(64);
    expect(loops()).toEqual([urlOf("endless/63")]);
  });

  it("a long listing whose pages state the number of their own items is read to its end", () => {
    const items = (n: number) => Array.from({ length: 20 }, (_, item) => `brands/${n}-${item}/`);
    const next = (n: number) => (n === 69 ? null : `endless/${n + 1}`);
    const world = endless((n) => page(items(n), next(n), {}, { collection_total: 20 }));
    crawl(mirror, world, { choose: (due) => due.filter(({ kind }) => kind !== "brand"), maxBatches: 200 });
    expect(world.pages()).toBe(70);
    expect(loops()).toEqual([]);
  });

  it("a listing with a new item on each of 20,032 pages is cut", () => {
    const world = endless((n) => page([`brands/${n}/`], `endless/${n + 1}`));
    crawl(mirror, world, { maxBatches: 4 });
    // As if it had read these pages, too.
    const [added, before] = [20_000, world.pages()];
    mirror.db.exec(`
      create temp table added as
        with recursive n(n) as (select 1 union all select n + 1 from n where n < ${added}) select n from n;
      insert into _resource (id, url, kind, state, first_run) select 100000 + n, '${urlOf("x")}' || n, 'brands', 'superseded', 1 from added;
      insert into _resource (id, url, kind, state, first_run) select 200000 + n, '${urlOf("y")}' || n, 'brand', 'superseded', 1 from added;
      insert into _page (id, collection_id) select 100000 + n, (select min(collection_id) from _page) from added;
      insert into _member (page_id, n, item_id, from_run) select 100000 + n, 0, 200000 + n, 1 from added;`);
    crawl(mirror, world, { choose: (due) => due.filter(({ kind }) => kind !== "brand"), maxBatches: 100 });
    expect(before).toBeLessThan(10);
    expect(added + world.pages()).toBe(20_032);
    expect(loops()).toEqual([urlOf("endless/31")]);
  });

  it("a long listing with one item on each page is read to its end", () => {
    const world = endless((n) => page([`brands/${n}/`], n === 149 ? null : `endless/${n + 1}`));
    crawl(mirror, world);
    expect(world.pages()).toBe(150);
    expect(loops()).toEqual([]);
  });
});

it("measurements without addresses are read from any number of pages, until pages repeat them", async () => {
  await using rig = await startMirrorRig();
  const account = await rig.write({ area: "account" });
  const pageOf = (n: number, next: number) => ({
    ...page([], `m/${next}`),
    collection: [{ bust: Math.min(n, 90) }, { bust: 0 }],
  });
  const links = { measurements: urlOf("m/0"), bras: null };
  const pages = Array.from({ length: 120 }, (_, n) => [`m/${n}`, pageOf(n, n + 1)]);
  const me = { "/": root({ me: urlOf("me/") }), "me/": entity({ user_id: 7 }, links) };
  crawl(account, worldOf({ ...me, ...Object.fromEntries(pages) }), { maxBatches: 200 });
  const count = account.db.prepare("select count(distinct payload) from _measurement").pluck().get();
  const fetched = account.db.prepare(
    "select count(*) from _page p join _resource r on r.id = p.id where state = 'held'",
  );
  expect(count).toBe(91);
  expect(fetched.pluck().get()).toBeLessThan(100);
  expect(problemsOf(account)).toEqual([]);
});
