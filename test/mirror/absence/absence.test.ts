/** What proves that a resource is gone, what does not, and what happens to an absent resource. */

import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { ResourceResult } from "../../../src/mirror/ingest.ts";
import type { DueResource } from "../../../src/mirror/scope.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { readProvenance } from "../../../src/query/provenance.ts";
import { noHeaders } from "../../support/no-headers.ts";
import {
  beginRun,
  type CrawlOptions,
  closeRun,
  type MirrorRig,
  problemsOf,
  startMirrorRig,
  crawl as walkAll,
} from "../support/mirror-rig.ts";
import { baseUrl, entity, page, root, urlOf, type World, worldOf } from "../support/world.ts";

let rig: MirrorRig;
let mirror: MirrorWriter;
beforeEach(async () => {
  rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
  return () => expect(problemsOf(mirror)).toEqual([]);
});

/** One kind per batch, listings before their items. */
function crawlMirror(writer: MirrorWriter, world: World, options: CrawlOptions = {}) {
  return walkAll(writer, world, {
    choose: (due) => due.filter(({ kind }) => kind === due[0]?.kind),
    ...options,
  });
}

const total = (count: unknown) => ({ collection_total: count });
const brand = (n: number) => `brands/${n}/`;
const brands = (count: number, start = 0) => Array.from({ length: count }, (_, n) => brand(start + n));
const pagePath = (n: number) => (n === 0 ? "brands/" : `brands/?page=${n + 1}`);

/** A world of these brands, `pageSize` on a page, each with a listing of two models. */
function brandWorld(listed: readonly string[], pageSize = 100): Map<string, string> {
  const pages = Math.max(1, Math.ceil(listed.length / pageSize));
  const bodies: Record<string, object> = { "/": root() };
  for (let n = 0; n < pages; n++) {
    const items = listed.slice(n * pageSize, (n + 1) * pageSize);
    bodies[pagePath(n)] = page(items, n + 1 < pages ? pagePath(n + 1) : null, {}, total(listed.length));
  }
  for (const path of listed) {
    const models = [`${path}m/1/`, `${path}m/2/`];
    bodies[path] = entity({ name: path }, { models: urlOf(`${path}models/`) });
    bodies[`${path}models/`] = page(models, null, {}, total(2));
    for (const model of models) bodies[model] = entity({ name: model }, { brand: urlOf(path) });
  }
  return worldOf(bodies);
}

interface Row {
  readonly state: string;
  readonly gone_run: number | null;
  readonly absent_run: number | null;
  readonly absent_by: string | null;
  readonly first_run: number;
}

function rowOf(path: string): Row {
  return mirror.db.prepare("select * from _resource where url = ?").get(urlOf(path)) as Row;
}

function gone(): unknown[] {
  return mirror.db.prepare("select url from _resource where state = 'gone' order by id").pluck().all();
}

function sourceOf(path: string) {
  const { gone, foundIn } = readProvenance(mirror as never, urlOf(path));
  return { gone, foundIn };
}

function replace(world: Map<string, string>, changes: ReadonlyMap<string, string>): void {
  world.clear();
  for (const [url, body] of changes) world.set(url, body);
}

/** The same world, in which some URLs return 404. */
const without = (world: World, isMissing: (url: string) => boolean): World => ({
  get: (url) => (isMissing(url) ? undefined : world.get(url)),
});

const ids = (...paths: readonly string[]) =>
  paths.map(
    (path) =>
      mirror.db
        .prepare<[string], number>("select id from _resource where url = ?")
        .pluck()
        .get(urlOf(path)) ?? 0,
  );

const goneResult = (resourceId: number): ResourceResult => ({
  resourceId,
  fetchedAt: "2026-02-02T02:02:02.000Z",
  outcome: "gone",
});

describe("one page", () => {
  it("a single page without a former item proves without a request that the item and everything below it are gone", () => {
    crawlMirror(mirror, brandWorld(brands(6)));
    const { requested, runId, ...report } = crawlMirror(mirror, brandWorld(brands(5)));
    expect(requested.filter((url) => url.includes("/5/"))).toEqual([]);
    expect(report).toMatchObject({ awaitingApproval: 0, partial: 0, gone: 4 });
    const below = ["brands/5/", "brands/5/models/", "brands/5/m/1/", "brands/5/m/2/"];
    expect(gone()).toEqual(below.map(urlOf));
    for (const path of below) expect(rowOf(path)).toMatchObject({ gone_run: runId, absent_by: null });
    expect(mirror.db.prepare("select count(*) from model_current").pluck().get()).toBe(10);
    expect(mirror.db.prepare("select count(*) from model").pluck().get()).toBe(12);
  });

  it("a gone resource comes with what proves its absence, and the pages that named it last", () => {
    const world = brandWorld(brands(12), 4);
    crawlMirror(mirror, world);
    // Of the second page, whose list goes on naming it.
    const withoutOne = (all: World) => without(all, (url) => url === urlOf("brands/7/"));
    const answered = crawlMirror(mirror, withoutOne(world));
    const shorter = withoutOne(brandWorld(brands(11), 4));
    const unlisted = crawlMirror(mirror, shorter);
    crawlMirror(mirror, shorter);
    expect(sourceOf("brands/7/")).toEqual({
      gone: { run: answered.runId, at: expect.any(String), proof: "response" },
      foundIn: [{ url: urlOf(pagePath(1)), link: null }],
    });
    expect(sourceOf("brands/11/")).toEqual({
      gone: { run: unlisted.runId, at: expect.any(String), proof: "listing" },
      foundIn: [{ url: urlOf(pagePath(2)), link: null }],
    });
    for (const [path, run] of [
      ["brands/7/m/1/", answered.runId],
      ["brands/11/m/2/", unlisted.runId],
    ] as const)
      expect(sourceOf(path)).toEqual({
        gone: { run, at: expect.any(String), proof: "parent" },
        foundIn: [{ url: urlOf(`${path.split("m/")[0]}models/`), link: null }],
      });
    expect(sourceOf("brands/3/").gone).toBeNull();
  });

  it("an item that moved to another listing of its kind is not absent", () => {
    const world = brandWorld(brands(6));
    crawlMirror(mirror, world);
    world.set(urlOf("brands/0/models/"), JSON.stringify(page(["brands/0/m/1/"], null, {}, total(1))));
    const more = ["brands/1/m/1/", "brands/1/m/2/", "brands/0/m/2/"];
    world.set(urlOf("brands/1/models/"), JSON.stringify(page(more, null, {}, total(3))));
    const { gone: count } = crawlMirror(mirror, world, { choose: (due) => [...due].reverse().slice(0, 1) });
    expect(count).toBe(0);
    expect(rowOf("brands/0/m/2/")).toMatchObject({ state: "held", absent_by: null });
  });

  it("an unlisted item whose own request succeeded in the same run is not absent", () => {
    const world = brandWorld(brands(6));
    crawlMirror(mirror, world);
    const shorter = without(brandWorld(brands(5)), () => false);
    const twoPages: World = { get: (url) => shorter.get(url) ?? world.get(url) };
    const last = (url: string) => Number(url === urlOf("brands/"));
    crawlMirror(mirror, twoPages, {
      choose: (due) => [...due].sort((a, b) => last(a.url) - last(b.url)).slice(0, 1),
    });
    expect(rowOf("brands/5/")).toMatchObject({ state: "held", absent_by: null });
  });
});

describe("several pages", () => {
  it("a listing of several pages is read twice with conditional requests before it proves an item gone", () => {
    crawlMirror(mirror, brandWorld(brands(12), 4));
    const { requested, gone: count, unchanged } = crawlMirror(mirror, brandWorld(brands(11), 4));
    expect(
      requested.filter((url) => url.startsWith(urlOf("brands/?")) || url === urlOf("brands/")),
    ).toHaveLength(6);
    expect(unchanged).toBeGreaterThan(3);
    expect(requested).not.toContain(urlOf("brands/11/"));
    expect(count).toBe(4);
  });

  it("a listing of several pages proves nothing while it changes, and proves an absence once it is stable", () => {
    const full = brandWorld(brands(12), 4);
    const shorter = brandWorld(brands(11), 4);
    crawlMirror(mirror, full);
    let reads = 0;
    // The item itself still exists, so that only the listing can suggest its absence.
    const changing: World = {
      get: (url) => (shorter.get(url) ?? full.get(url))?.replace('"spec":null', `"spec":null,"n":${reads++}`),
    };
    crawlMirror(mirror, changing);
    expect(crawlMirror(mirror, changing)).toMatchObject({ gone: 0, awaitingApproval: 0, partial: 0 });
    expect(rowOf("brands/11/")).toMatchObject({ state: "held", absent_by: null });
    crawlMirror(mirror, shorter);
    crawlMirror(mirror, shorter);
    expect(rowOf("brands/11/").state).toBe("gone");
  });

  it("a listing whose second reading fails proves nothing and keeps its pages", () => {
    const full = brandWorld(brands(12), 4);
    crawlMirror(mirror, full);
    const shorter = brandWorld(brands(11), 4);
    let reads = 0;
    const failing: World = {
      get: (url) =>
        url === urlOf(pagePath(1)) && reads++ > 0 ? "<html>" : (shorter.get(url) ?? full.get(url)),
    };
    expect(crawlMirror(mirror, failing)).toMatchObject({ partial: 1, gone: 0, failed: 1 });
    expect(rowOf(pagePath(1)).state).toBe("held");
    expect(rowOf("brands/11/")).toMatchObject({ state: "held", absent_by: null });
  });

  it("missing items of a listing without validators are requested one by one", () => {
    crawlMirror(mirror, brandWorld(brands(12), 4));
    mirror.db.exec("update _resource set etag = null where kind = 'brands'");
    const world = brandWorld(brands(11), 4);
    const noEtags = crawlWithoutEtags(world);
    expect(noEtags.filter((url) => url === urlOf("brands/"))).toHaveLength(1);
    expect(noEtags).toContain(urlOf("brands/11/"));
    expect(rowOf("brands/11/").state).toBe("gone");
  });
});

function crawlWithoutEtags(world: World): readonly string[] {
  const ingest = mirror.ingest;
  const withoutEtags: MirrorWriter = {
    ...mirror,
    ingest: (results, runId) =>
      ingest(
        results.map((result) => (result.outcome === "body" ? { ...result, etag: null } : result)),
        runId,
      ),
  };
  return crawlMirror(withoutEtags, world).requested;
}

describe("inconclusive listings", () => {
  it("a listing that becomes empty waits for approval; its items are requested, and so do their 404s", () => {
    const world = brandWorld(brands(6));
    crawlMirror(mirror, world);
    const emptied: World = {
      get: (url) =>
        url === urlOf("brands/") ? JSON.stringify(page([], null, {}, total(0))) : world.get(url),
    };
    const { requested, ...report } = crawlMirror(mirror, emptied);
    expect(report).toMatchObject({
      ...{ gone: 0, awaitingApproval: 6, partial: 0, stopped: "approval" },
      bulkDeletions: [{ kind: "brand", collection: urlOf("brands/"), absent: 6, of: 6 }],
    });
    expect(requested).toEqual(expect.arrayContaining(brands(6).map(urlOf)));
    expect(gone()).toEqual([]);
    expect(crawlMirror(mirror, emptied)).toMatchObject({ gone: 0, awaitingApproval: 6 });
    const allGone = without(emptied, (url) => url.includes("brands/") && url !== urlOf("brands/"));
    expect(crawlMirror(mirror, allGone)).toMatchObject({ gone: 0, stopped: "approval" });
    expect(gone()).toEqual([]);
  });

  it.each<[string, object, object]>([
    ["states more items than it lists", page(brands(5), null, {}, total(6)), {}],
    ["states fewer items than it lists", page(brands(5), null, {}, total(4)), {}],
    ["states that it is empty", page(brands(5), null, {}, total(0)), {}],
    ["states a fraction", page(brands(5), null, {}, total(5.5)), {}],
    ["states a huge number", page(brands(5), null, {}, total(1e15)), {}],
    ["states a negative number", page(brands(5), null, {}, total(-5)), {}],
    ["states a text", page(brands(5), null, {}, total("many")), {}],
    ["states a total on one page only", page(brands(5), "p2", {}, total(5)), { p2: page([]) }],
    [
      "states a different total on each page",
      page(brands(5), "p2", {}, total(5)),
      { p2: page([], null, {}, total(6)) },
    ],
    ["lists an item twice", page([...brands(5), brand(0)], null, {}, total(6)), {}],
    ["has itself as the next page", page(brands(5), "brands/", {}, total(5)), {}],
    ["has a circle of pages", page(brands(5), "p2"), { p2: page([], "p3"), p3: page([], "p2") }],
    ["continues in another listing", page(brands(5), "brands/0/models/"), {}],
    ["continues at another origin", { ...page(brands(5)), meta: { next: "https://elsewhere.example/" } }, {}],
    ["has an invalid next page", { ...page(brands(5)), meta: { next: 7 } }, {}],
    ["has a page without an envelope", page(brands(5), "p2", {}, total(5)), { p2: "<html>" }],
    ["links to a missing page and states no total", page(brands(5), "p2"), {}],
    [
      "links to a missing page and states the number of items on each page",
      page(brands(3), "p2", {}, total(3)),
      { p2: page(["brands/3/", "brands/4/"], "p3", {}, total(2)) },
    ],
    [
      "states the number of items on each page but one",
      page(brands(3), "p2", {}, total(3)),
      { p2: page(["brands/3/", "brands/4/"], null, {}, total(3)) },
    ],
  ])("a listing that %s is partial and proves no absence", (_defect, first, others) => {
    const world = brandWorld(brands(6));
    crawlMirror(mirror, world);
    for (const [url, body] of worldOf({ "brands/": first, ...others })) world.set(url, body);
    const report = crawlMirror(mirror, world);
    expect(report).toMatchObject({ gone: 0, awaitingApproval: 0, partial: 1 });
    expect(rowOf("brands/5/")).toMatchObject({ state: "held", absent_by: null });
    expect(partialDetails()).toHaveLength(1);
    mirror.rebuild();
    expect(partialDetails()).toHaveLength(1);
    // It stays reported while it is inconsistent, but is not read twice in every run.
    const requested = crawlMirror(mirror, world).requested.filter((url) => url === urlOf("brands/"));
    expect(requested).toHaveLength(1);
    expect(crawlMirror(mirror, world)).toMatchObject({ partial: 1, gone: 0 });
    replace(world, brandWorld(brands(6)));
    expect(crawlMirror(mirror, world)).toMatchObject({ partial: 0 });
    expect(partialDetails()).toEqual([]);
  });

  it("pages that state the number of their own items are complete, but only a missing item's own 404 proves its absence", () => {
    const listOf = (...items: readonly string[]) =>
      worldOf({
        "brands/": page(items.slice(0, 3), "p2", {}, total(3)),
        p2: page(items.slice(3), null, {}, total(items.length - 3)),
      });
    const world = brandWorld(brands(7));
    const show = (items: readonly string[]) => {
      for (const [url, body] of listOf(...items)) world.set(url, body);
    };
    show(brands(7));
    expect(crawlMirror(mirror, world)).toMatchObject({ partial: 0, gone: 0 });
    show(brands(6));
    expect(crawlMirror(mirror, world)).toMatchObject({ partial: 0, gone: 0, awaitingApproval: 0 });
    world.delete(urlOf(brand(6)));
    show(brands(5));
    expect(crawlMirror(mirror, world)).toMatchObject({ partial: 0, awaitingApproval: 0 });
    expect(gone()).toContain(urlOf(brand(6)));
    expect(gone()).not.toContain(urlOf(brand(5)));
  });

  it("the issue of a partial listing states both numbers", () => {
    const world = brandWorld(brands(40));
    world.set(urlOf("brands/"), JSON.stringify(page(brands(39), null, {}, total(40))));
    crawlMirror(mirror, world);
    expect(partialDetails()).toEqual(["says 40, lists 39"]);
  });

  it("a listing that is gone proves nothing about its items", () => {
    const world = brandWorld(brands(6));
    crawlMirror(mirror, world);
    world.delete(urlOf("brands/3/models/"));
    crawlMirror(mirror, world);
    expect(gone()).toEqual([urlOf("brands/3/models/")]);
    expect(rowOf("brands/3/m/1/")).toMatchObject({ state: "held", absent_by: null });
  });

  it("a listing proves nothing before all its pages are read", () => {
    crawlMirror(mirror, brandWorld(brands(12), 4));
    const world = brandWorld(brands(11, 1), 4);
    const chooseOne = (due: readonly { url: string }[]) =>
      due.filter(({ url }) => url === baseUrl || url === urlOf("brands/")).slice(0, 1) as never;
    crawlMirror(mirror, world, { choose: chooseOne, maxBatches: 2 });
    expect(rowOf("brands/0/")).toMatchObject({ state: "held", absent_by: null });
    crawlMirror(mirror, world);
    expect(rowOf("brands/0/").state).toBe("gone");
  });
});

function partialDetails(): unknown[] {
  return mirror.db.prepare("select detail from _issue where code = 'partial-listing'").pluck().all();
}

describe("bulk deletions", () => {
  it("a bulk deletion changes nothing until it is approved", () => {
    crawlMirror(mirror, brandWorld(brands(10)));
    const world = brandWorld(brands(7));
    const report = crawlMirror(mirror, world);
    expect(report).toMatchObject({
      ...{ gone: 0, awaitingApproval: 3, stopped: "approval" },
      bulkDeletions: [{ kind: "brand", collection: urlOf("brands/"), absent: 3, of: 10 }],
    });
    expect(gone()).toEqual([]);
    expect(mirror.db.prepare("select count(*) from brand_current").pluck().get()).toBe(10);
    expect(crawlMirror(mirror, world)).toMatchObject({ gone: 0, awaitingApproval: 3, stopped: "approval" });
    expect(crawlMirror(mirror, world, { approve: true })).toMatchObject({
      awaitingApproval: 0,
      gone: 12,
      stopped: null,
    });
    expect(gone()).toHaveLength(12);
  });

  it("a bulk deletion is forgotten when the items are listed again", () => {
    const full = brandWorld(brands(10));
    crawlMirror(mirror, full);
    crawlMirror(mirror, brandWorld(brands(7)));
    expect(crawlMirror(mirror, full)).toMatchObject({ gone: 0, awaitingApproval: 0, stopped: null });
    expect(
      mirror.db.prepare("select count(*) from _resource where absent_by is not null").pluck().get(),
    ).toBe(0);
    expect(crawlMirror(mirror, full, { approve: true }).gone).toBe(0);
  });

  it.each(["everything", "every brand", "every list of models", "every model"])(
    "a 404 for %s waits for approval, and is forgotten when the service recovers",
    (missing) => {
      const patterns = {
        everything: /./,
        "every brand": /brands\/\d+\/$/,
        "every list of models": /models\/$/,
        "every model": /\/m\//,
      };
      const pattern = patterns[missing as keyof typeof patterns];
      const world = brandWorld(brands(8));
      crawlMirror(mirror, world);
      const choose = (due: readonly DueResource[]) => [...due].reverse().slice(0, 3);
      const broken = without(world, (url) => url !== baseUrl && pattern.test(url.slice(baseUrl.length - 1)));
      expect(crawlMirror(mirror, broken, { choose })).toMatchObject({ stopped: "approval" });
      expect(gone().filter((url) => url !== urlOf("brands/"))).toEqual([]);
      expect(crawlMirror(mirror, world)).toMatchObject({ awaitingApproval: 0, stopped: null });
      crawlMirror(mirror, world);
      expect(gone()).toEqual([]);
      expect(mirror.db.prepare("select count(*) from _resource where state <> 'held'").pluck().get()).toBe(0);
    },
  );

  it("with approval, the former items of an empty listing become tombstones", () => {
    const world = brandWorld(brands(6));
    crawlMirror(mirror, world);
    world.set(urlOf("brands/"), JSON.stringify(page([], null, {}, total(0))));
    for (const path of brands(6)) world.delete(urlOf(path));
    crawlMirror(mirror, world, { approve: true, maxBatches: 2, choose: (due) => due.slice(0, 1) });
    expect(gone()).toEqual(expect.arrayContaining(brands(6).map(urlOf)));
  });
});

describe("approval", () => {
  const emptiedOf = (world: World): World => ({
    get: (url) => (url === urlOf("brands/") ? JSON.stringify(page([], null, {}, total(0))) : world.get(url)),
  });

  it("with approval, former items of an empty listing stay if their own requests succeed", () => {
    const world = emptiedOf(brandWorld(brands(6)));
    crawlMirror(mirror, brandWorld(brands(6)));
    expect(crawlMirror(mirror, world, { approve: true })).toMatchObject({ gone: 0, awaitingApproval: 0 });
    const first = (due: readonly DueResource[]) => due.slice(0, 1);
    expect(crawlMirror(mirror, world, { approve: true, choose: first, maxBatches: 2 }).gone).toBe(0);
    expect(gone()).toEqual([]);
  });

  it("an approved empty listing is reported again only after it had items again", () => {
    const full = brandWorld(brands(6));
    crawlMirror(mirror, full);
    crawlMirror(mirror, emptiedOf(full), { approve: true });
    expect(crawlMirror(mirror, emptiedOf(full))).toMatchObject({ awaitingApproval: 0, stopped: null });
    expect(crawlMirror(mirror, full)).toMatchObject({ awaitingApproval: 0, stopped: null });
    expect(crawlMirror(mirror, emptiedOf(full))).toMatchObject({ awaitingApproval: 6, stopped: "approval" });
  });

  it("an emptied listing of one item waits for approval, too", () => {
    const full = brandWorld(brands(1));
    crawlMirror(mirror, full);
    expect(crawlMirror(mirror, emptiedOf(full))).toMatchObject({ awaitingApproval: 1, stopped: "approval" });
    expect(crawlMirror(mirror, full)).toMatchObject({ awaitingApproval: 0, stopped: null });
  });
});

describe("pages outside the chain", () => {
  /** Requests only these paths, one after the other. */
  const requesting = (...paths: readonly string[]) => {
    const remaining = paths.map(urlOf);
    return {
      choose: (due: readonly DueResource[]) => {
        const next = remaining.shift();
        return due.filter(({ url }) => url === next);
      },
      maxBatches: paths.length,
    };
  };

  it("a new item on a page that has left the chain is not absent", () => {
    const world = brandWorld(brands(6), 3);
    crawlMirror(mirror, world);
    const shorter = brandWorld(brands(3), 3);
    const longer = brandWorld([...brands(3), brand(7)], 3);
    const inTurn: World = {
      get: (url) => (url === urlOf(pagePath(0)) ? shorter : longer).get(url),
    };
    crawlMirror(mirror, inTurn, requesting("/", pagePath(0), pagePath(1)));
    expect(rowOf(brand(7))).toMatchObject({ state: "due", absent_by: null });
  });

  it("items on a page that has left the chain, and was unchanged after it, are not absent", () => {
    const world = brandWorld(brands(4), 3);
    crawlMirror(mirror, world);
    const shorter = brandWorld(brands(3), 3);
    const inTurn: World = { get: (url) => (url === urlOf(pagePath(0)) ? shorter : world).get(url) };
    expect(crawlMirror(mirror, inTurn, requesting("/", pagePath(0), pagePath(1))).gone).toBe(0);
    // Its own response decides.
    expect(rowOf(brand(3))).toMatchObject({ state: "due", absent_by: null });
  });
});

describe("addresses of pages that are new in each response", () => {
  /** Two pages of a list that states its size; only the newest address of the second one is requested. */
  const crawlWithCursors = (listed: readonly string[], stated: number) => {
    const world = brandWorld(brands(4));
    let cursors = 0;
    const cursorPath = () => `brands/?cursor=${cursors}`;
    const withCursors: World = {
      get: (url) => {
        if (url === urlOf("brands/")) {
          cursors++;
          return JSON.stringify(page(listed.slice(0, 2), cursorPath(), {}, total(stated)));
        }
        if (url === urlOf(cursorPath()))
          return JSON.stringify(page(listed.slice(2), null, {}, total(stated)));
        return world.get(url);
      },
    };
    const isFormer = (url: string) => url.includes("cursor=") && url !== urlOf(cursorPath());
    const choose = (due: readonly DueResource[]) => {
      const present = due.filter(({ url }) => !isFormer(url));
      return present.filter(({ kind }) => kind === present[0]?.kind);
    };
    return walkAll(mirror, withCursors, { choose });
  };

  it("a list with fewer entries than it states is partial, in each run", () => {
    for (let runs = 0; runs < 3; runs++) expect(crawlWithCursors(brands(4), 5)).toMatchObject({ partial: 1 });
    expect(crawlWithCursors(brands(4), 4)).toMatchObject({ partial: 0, gone: 0 });
  });

  it("a list that lacks a former item proves nothing by itself", () => {
    crawlWithCursors(brands(4), 4);
    expect(crawlWithCursors(brands(3), 3)).toMatchObject({ partial: 0, gone: 0 });
    expect(rowOf(brand(3)).state).toBe("held");
  });
});

describe("noted absences", () => {
  it("a note outlives a killed run; the next closed run creates the tombstone", () => {
    const world = brandWorld(brands(6));
    crawlMirror(mirror, world);
    const killedRun = beginRun(mirror);
    mirror.ingest(ids("brands/5/").map(goneResult), killedRun);
    expect(rowOf("brands/5/")).toMatchObject({
      state: "held",
      absent_run: killedRun,
      absent_by: "response",
      gone_run: null,
    });
    const next = beginRun(mirror);
    expect(gone()).toEqual([]);
    // With its listing of models, to which nothing else links.
    expect(closeRun(mirror, next)).toMatchObject({ gone: 2 });
    expect(rowOf("brands/5/")).toMatchObject({ state: "gone", gone_run: next, absent_run: null });
  });

  it.each(["not-modified", "body"] as const)(
    "a %s result clears the notes of a resource and of everything below it",
    (outcome) => {
      const world = brandWorld(brands(6));
      crawlMirror(mirror, world);
      const runId = beginRun(mirror);
      const [resourceId = 0] = ids("brands/5/");
      mirror.ingest([goneResult(resourceId)], runId);
      expect(rowOf("brands/5/m/1/").absent_by).toBe("parent");
      const common = { resourceId, fetchedAt: "2026-02-02T02:02:02.000Z" };
      const body = Buffer.from(world.get(urlOf("brands/5/")) ?? "");
      mirror.ingest(
        [
          outcome === "body"
            ? { ...common, outcome, status: 200, etag: null, headers: noHeaders, body }
            : { ...common, outcome },
        ],
        runId,
      );
      expect(closeRun(mirror, runId)).toMatchObject({ gone: 0 });
      for (const path of ["brands/5/", "brands/5/models/", "brands/5/m/1/"])
        expect(rowOf(path)).toMatchObject({ state: "held", absent_by: null, absent_run: null });
    },
  );

  it("neither a failure nor an invalid body clears a note", () => {
    crawlMirror(mirror, brandWorld(brands(6)));
    const runId = beginRun(mirror);
    const [resourceId = 0] = ids("brands/5/");
    const common = { resourceId, fetchedAt: "2026-02-02T02:02:02.000Z" };
    mirror.ingest([goneResult(resourceId)], runId);
    mirror.ingest([{ ...common, outcome: "failed", code: "timeout", message: "no response" }], runId);
    mirror.ingest(
      [
        {
          ...common,
          outcome: "body",
          status: 200,
          etag: null,
          headers: noHeaders,
          body: Buffer.from("<html>"),
        },
      ],
      runId,
    );
    expect(closeRun(mirror, runId)).toMatchObject({ gone: 2 });
  });

  it("notes survive a rebuild", () => {
    crawlMirror(mirror, brandWorld(brands(10)));
    crawlMirror(mirror, brandWorld(brands(7)));
    const before = mirror.db.prepare("select id, absent_run, absent_by from _resource").all();
    mirror.rebuild();
    expect(mirror.db.prepare("select id, absent_run, absent_by from _resource").all()).toEqual(before);
  });
});

describe("resources below tombstones", () => {
  it("a resource below a tombstone is requested if another listing contains it", () => {
    const world = brandWorld(brands(6));
    crawlMirror(mirror, world);
    const moved = brandWorld(brands(5));
    const models = ["brands/4/m/1/", "brands/4/m/2/", "brands/5/m/1/"];
    moved.set(urlOf("brands/4/models/"), JSON.stringify(page(models, null, {}, total(3))));
    moved.set(urlOf("brands/5/m/1/"), world.get(urlOf("brands/5/m/1/")) ?? "");
    crawlMirror(mirror, moved);
    expect(rowOf("brands/5/m/1/")).toMatchObject({ state: "held", absent_by: null });
    expect(rowOf("brands/5/m/2/").state).toBe("gone");
  });

  it("a resource below a tombstone is requested if another listing has always contained it", () => {
    const shared = (world: Map<string, string>) =>
      world.set(
        urlOf("brands/4/models/"),
        JSON.stringify(page(["brands/4/m/1/", "brands/4/m/2/", "brands/5/m/1/"], null, {}, total(3))),
      );
    crawlMirror(mirror, shared(brandWorld(brands(6))));
    const { requested } = crawlMirror(mirror, shared(brandWorld(brands(5))));
    expect(requested.filter((url) => url.includes("/5/"))).toEqual([urlOf("brands/5/m/1/")]);
    expect(rowOf("brands/5/m/1/").state).toBe("gone");
  });

  it("a resource below a tombstone is requested if another resource links to it", () => {
    const full = brandWorld(brands(6));
    crawlMirror(mirror, full);
    const linked = brandWorld(brands(5));
    linked.set(
      urlOf(brand(0)),
      JSON.stringify(entity({ name: "new" }, { models: urlOf("brands/5/models/") })),
    );
    const world: World = {
      get: (url) => linked.get(url) ?? (url === urlOf(brand(5)) ? undefined : full.get(url)),
    };
    crawlMirror(mirror, world);
    expect(rowOf(brand(5)).state).toBe("gone");
    expect(rowOf("brands/5/models/")).toMatchObject({ state: "due", absent_by: null });
    crawlMirror(mirror, world);
    expect(rowOf("brands/5/models/").state).toBe("held");
    expect(rowOf("brands/5/m/1/")).toMatchObject({ state: "held", absent_by: null });
  });

  it("a resource below a tombstone waits while a listing that may contain it failed", () => {
    const world = brandWorld(brands(6));
    crawlMirror(mirror, world);
    const shorter = brandWorld(brands(5));
    shorter.set(urlOf("brands/0/models/"), "<html>");
    crawlMirror(mirror, shorter);
    expect(rowOf("brands/5/").state).toBe("gone");
    expect(rowOf("brands/5/m/1/")).toMatchObject({ state: "held", absent_by: "parent" });
    const { requested } = crawlMirror(mirror, brandWorld(brands(5)));
    expect(requested.filter((url) => url.includes("/5/"))).toEqual([]);
    expect(rowOf("brands/5/m/1/").state).toBe("gone");
  });

  it("a revived tombstone and everything below it get their history back", () => {
    const full = brandWorld(brands(6));
    const { runId: first } = crawlMirror(mirror, full);
    const { runId: goneRun } = crawlMirror(mirror, brandWorld(brands(5)));
    const { runId: returned } = crawlMirror(mirror, full);
    expect(gone()).toEqual([]);
    for (const path of ["brands/5/", "brands/5/models/", "brands/5/m/1/"]) {
      expect(rowOf(path)).toMatchObject({ state: "held", gone_run: null, first_run: first });
      const revisions = mirror.db
        .prepare("select seq, from_run, to_run from _revision where resource_id = ? order by seq")
        .raw()
        .all(...ids(path));
      expect(revisions).toEqual([
        [1, first, goneRun],
        [2, returned, null],
      ]);
    }
  });
});

it("a run closes even if ownership forms a circle", async () => {
  const world = brandWorld(brands(6));
  crawlMirror(mirror, world);
  // Links of the service can do this: a listing owned by a model that it lists.
  mirror.db
    .prepare(
      `update _resource set owner_id = (select id from _resource where url = ?) where id = (
         select owner_id from _resource where url = ?)`,
    )
    .run(urlOf(`${brand(0)}m/1/`), urlOf(`${brand(0)}m/1/`));
  const runId = beginRun(mirror);
  const { id } = mirror.db
    .prepare<[string], { id: number }>("select id from _resource where url = ?")
    .get(urlOf(`${brand(0)}m/2/`)) ?? { id: 0 };
  mirror.ingest([{ resourceId: id, fetchedAt: "2026-01-16T12:00:00.000Z", outcome: "gone" }], runId);
  expect(closeRun(mirror, runId).gone).toBe(1);
});
