/** What proves that something is gone, what does not, and what becomes of it. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { DueResource } from "../../../src/mirror/check-cycle.ts";
import type { ResourceResult } from "../../../src/mirror/ingest.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import {
  beginRun,
  closeRun,
  type MirrorRig,
  problemsOf,
  startMirrorRig,
  type WalkOptions,
  walk as walkAll,
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

/** Level by level, lists before what they list; one kind makes a batch. */
function walk(writer: MirrorWriter, world: World, options: WalkOptions = {}) {
  return walkAll(writer, world, {
    choose: (due) => due.filter(({ kind }) => kind === due[0]?.kind),
    ...options,
  });
}

const total = (count: unknown) => ({ collection_total: count });
const brand = (n: number) => `brands/${n}/`;
const brands = (count: number, start = 0) => Array.from({ length: count }, (_, n) => brand(start + n));
const pagePath = (n: number) => (n === 0 ? "brands/" : `brands/?page=${n + 1}`);

/** A world of these brands, so many to a page, each with a list of two models. */
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

function replace(world: Map<string, string>, other: ReadonlyMap<string, string>): void {
  world.clear();
  for (const [url, body] of other) world.set(url, body);
}

/** As it is, but these answer 404. */
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

const answerGone = (resourceId: number): ResourceResult => ({
  resourceId,
  fetchedAt: "2026-02-02T02:02:02.000Z",
  outcome: "gone",
});

describe("a list of one page that names something no more", () => {
  it("proves that it is gone, without asking for it, and what belongs to it follows", () => {
    walk(mirror, brandWorld(brands(6)));
    const { asked, runId, ...report } = walk(mirror, brandWorld(brands(5)));
    expect(asked.filter((url) => url.includes("/5/"))).toEqual([]);
    expect(report).toMatchObject({ waiting: 0, partial: 0, gone: 4 });
    const below = ["brands/5/", "brands/5/models/", "brands/5/m/1/", "brands/5/m/2/"];
    expect(gone()).toEqual(below.map(urlOf));
    for (const path of below) expect(rowOf(path)).toMatchObject({ gone_run: runId, absent_by: null });
    expect(mirror.db.prepare("select count(*) from model_current").pluck().get()).toBe(10);
    expect(mirror.db.prepare("select count(*) from model").pluck().get()).toBe(12);
  });

  it("does not, where another list of its kind names it: it moved", () => {
    const world = brandWorld(brands(6));
    walk(mirror, world);
    world.set(urlOf("brands/0/models/"), JSON.stringify(page(["brands/0/m/1/"], null, {}, total(1))));
    const more = ["brands/1/m/1/", "brands/1/m/2/", "brands/0/m/2/"];
    world.set(urlOf("brands/1/models/"), JSON.stringify(page(more, null, {}, total(3))));
    const { gone: count } = walk(mirror, world, { choose: (due) => [...due].reverse().slice(0, 1) });
    expect(count).toBe(0);
    expect(rowOf("brands/0/m/2/")).toMatchObject({ state: "held", absent_by: null });
  });

  it("does not, where it answered in the same run: its own word counts more", () => {
    const world = brandWorld(brands(6));
    walk(mirror, world);
    const shorter = without(brandWorld(brands(5)), () => false);
    const both: World = { get: (url) => shorter.get(url) ?? world.get(url) };
    const last = (url: string) => Number(url === urlOf("brands/"));
    walk(mirror, both, { choose: (due) => [...due].sort((a, b) => last(a.url) - last(b.url)).slice(0, 1) });
    expect(rowOf("brands/5/")).toMatchObject({ state: "held", absent_by: null });
  });
});

describe("a list of several pages that names something no more", () => {
  it("is read a second time, which costs nothing, and then proves it", () => {
    walk(mirror, brandWorld(brands(12), 4));
    const { asked, gone: count, unchanged } = walk(mirror, brandWorld(brands(11), 4));
    expect(asked.filter((url) => url.startsWith(urlOf("brands/?")) || url === urlOf("brands/"))).toHaveLength(
      6,
    );
    expect(unchanged).toBeGreaterThan(3);
    expect(asked).not.toContain(urlOf("brands/11/"));
    expect(count).toBe(4);
  });

  it("proves nothing while it goes on changing, and does once it rests", () => {
    const full = brandWorld(brands(12), 4);
    const shorter = brandWorld(brands(11), 4);
    walk(mirror, full);
    let reads = 0;
    // The item itself is still there, so that nothing but the list could tell of its absence.
    const restless: World = {
      get: (url) => (shorter.get(url) ?? full.get(url))?.replace('"spec":null', `"spec":null,"n":${reads++}`),
    };
    walk(mirror, restless);
    expect(walk(mirror, restless)).toMatchObject({ gone: 0, waiting: 0, partial: 0 });
    expect(rowOf("brands/11/")).toMatchObject({ state: "held", absent_by: null });
    walk(mirror, shorter);
    walk(mirror, shorter);
    expect(rowOf("brands/11/").state).toBe("gone");
  });

  it("proves nothing when the second reading fails, which leaves its pages as they were", () => {
    const full = brandWorld(brands(12), 4);
    walk(mirror, full);
    const shorter = brandWorld(brands(11), 4);
    let reads = 0;
    const failing: World = {
      get: (url) =>
        url === urlOf(pagePath(1)) && reads++ > 0 ? "<html>" : (shorter.get(url) ?? full.get(url)),
    };
    expect(walk(mirror, failing)).toMatchObject({ partial: 1, gone: 0, failed: 1 });
    expect(rowOf(pagePath(1)).state).toBe("held");
    expect(rowOf("brands/11/")).toMatchObject({ state: "held", absent_by: null });
  });

  it("has its items asked one by one where there are no validators", () => {
    walk(mirror, brandWorld(brands(12), 4));
    mirror.db.exec("update _resource set etag = null where kind = 'brands'");
    const world = brandWorld(brands(11), 4);
    const noEtags = walkWithoutEtags(world);
    expect(noEtags.filter((url) => url === urlOf("brands/"))).toHaveLength(1);
    expect(noEtags).toContain(urlOf("brands/11/"));
    expect(rowOf("brands/11/").state).toBe("gone");
  });
});

function walkWithoutEtags(world: World): readonly string[] {
  const noEtag = mirror.ingest;
  const bare: MirrorWriter = {
    ...mirror,
    ingest: (results, runId) =>
      noEtag(
        results.map((result) => (result.outcome === "body" ? { ...result, etag: null } : result)),
        runId,
      ),
  };
  return walk(bare, world).asked;
}

describe("what proves nothing", () => {
  it("a list that has become empty, until its items say so themselves", () => {
    const world = brandWorld(brands(6));
    walk(mirror, world);
    const emptied: World = {
      get: (url) =>
        url === urlOf("brands/") ? JSON.stringify(page([], null, {}, total(0))) : world.get(url),
    };
    const { asked, ...report } = walk(mirror, emptied);
    expect(report).toMatchObject({ gone: 0, waiting: 0, partial: 0 });
    expect(asked).toEqual(expect.arrayContaining(brands(6).map(urlOf)));
    const nothing = without(emptied, (url) => url.includes("brands/") && url !== urlOf("brands/"));
    expect(walk(mirror, nothing)).toMatchObject({ gone: 0, stopped: "approval" });
    expect(gone()).toEqual([]);
  });

  it.each<[string, object, object]>([
    ["says more than it lists", page(brands(5), null, {}, total(6)), {}],
    ["says less than it lists", page(brands(5), null, {}, total(4)), {}],
    ["says that it is empty", page(brands(5), null, {}, total(0)), {}],
    ["says a fraction", page(brands(5), null, {}, total(5.5)), {}],
    ["says a number beyond all bounds", page(brands(5), null, {}, total(1e15)), {}],
    ["says a negative number", page(brands(5), null, {}, total(-5)), {}],
    ["says a text", page(brands(5), null, {}, total("many")), {}],
    ["says it on one page only", page(brands(5), "p2", {}, total(5)), { p2: page([]) }],
    [
      "says something else on each page",
      page(brands(5), "p2", {}, total(5)),
      { p2: page([], null, {}, total(6)) },
    ],
    ["names something twice", page([...brands(5), brand(0)], null, {}, total(6)), {}],
    ["leads back to itself", page(brands(5), "brands/", {}, total(5)), {}],
    ["goes in circles", page(brands(5), "p2"), { p2: page([], "p3"), p3: page([], "p2") }],
    ["runs into another list", page(brands(5), "brands/0/models/"), {}],
    ["leads to another origin", { ...page(brands(5)), meta: { next: "https://elsewhere.example/" } }, {}],
    ["has a next page that is no address", { ...page(brands(5)), meta: { next: 7 } }, {}],
    ["has a page that is no page", page(brands(5), "p2", {}, total(5)), { p2: "<html>" }],
    ["leads to a page that is not there, and says no number", page(brands(5), "p2"), {}],
  ])("a list that %s, which is partial", (_what, first, others) => {
    const world = brandWorld(brands(6));
    walk(mirror, world);
    for (const [url, body] of worldOf({ "brands/": first, ...others })) world.set(url, body);
    const report = walk(mirror, world);
    expect(report).toMatchObject({ gone: 0, waiting: 0, partial: 1 });
    expect(rowOf("brands/5/")).toMatchObject({ state: "held", absent_by: null });
    expect(partialDetails()).toHaveLength(1);
    mirror.rebuild();
    expect(partialDetails()).toHaveLength(1);
    // It is told again as long as it is so, without being read twice again and again.
    const asked = walk(mirror, world).asked.filter((url) => url === urlOf("brands/"));
    expect(asked).toHaveLength(1);
    expect(walk(mirror, world)).toMatchObject({ partial: 1, gone: 0 });
    replace(world, brandWorld(brands(6)));
    expect(walk(mirror, world)).toMatchObject({ partial: 0 });
    expect(partialDetails()).toEqual([]);
  });

  it("says what does not fit", () => {
    const world = brandWorld(brands(40));
    world.set(urlOf("brands/"), JSON.stringify(page(brands(39), null, {}, total(40))));
    walk(mirror, world);
    expect(partialDetails()).toEqual(["says 40, lists 39"]);
  });

  it("the list itself being gone says nothing of its items", () => {
    const world = brandWorld(brands(6));
    walk(mirror, world);
    world.delete(urlOf("brands/3/models/"));
    walk(mirror, world);
    expect(gone()).toEqual([urlOf("brands/3/models/")]);
    expect(rowOf("brands/3/m/1/")).toMatchObject({ state: "held", absent_by: null });
  });

  it("pages that are not all read yet", () => {
    walk(mirror, brandWorld(brands(12), 4));
    const world = brandWorld(brands(11, 1), 4);
    const one = (due: readonly { url: string }[]) =>
      due.filter(({ url }) => url === baseUrl || url === urlOf("brands/")).slice(0, 1) as never;
    walk(mirror, world, { choose: one, maxBatches: 2 });
    expect(rowOf("brands/0/")).toMatchObject({ state: "held", absent_by: null });
    walk(mirror, world);
    expect(rowOf("brands/0/").state).toBe("gone");
  });
});

function partialDetails(): unknown[] {
  return mirror.db.prepare("select detail from _issue where code = 'partial-listing'").pluck().all();
}

describe("more than a fifth of a list at once", () => {
  it("is held back as it was, and goes when it is approved", () => {
    walk(mirror, brandWorld(brands(10)));
    const world = brandWorld(brands(7));
    const report = walk(mirror, world);
    expect(report).toMatchObject({
      ...{ gone: 0, waiting: 3, stopped: "approval" },
      masses: [{ kind: "brand", collection: urlOf("brands/"), absent: 3, of: 10 }],
    });
    expect(gone()).toEqual([]);
    expect(mirror.db.prepare("select count(*) from brand_current").pluck().get()).toBe(10);
    expect(walk(mirror, world)).toMatchObject({ gone: 0, waiting: 3, stopped: "approval" });
    expect(walk(mirror, world, { approve: true })).toMatchObject({ waiting: 0, gone: 12, stopped: null });
    expect(gone()).toHaveLength(12);
  });

  it("is no longer held back once it is listed again", () => {
    const full = brandWorld(brands(10));
    walk(mirror, full);
    walk(mirror, brandWorld(brands(7)));
    expect(walk(mirror, full)).toMatchObject({ gone: 0, waiting: 0, stopped: null });
    expect(
      mirror.db.prepare("select count(*) from _resource where absent_by is not null").pluck().get(),
    ).toBe(0);
    expect(walk(mirror, full, { approve: true }).gone).toBe(0);
  });

  it.each(["everything", "every brand", "every list of models", "every model"])(
    "is held back when the service has nothing for %s, and forgotten when it has again",
    (what) => {
      const patterns = {
        everything: /./,
        "every brand": /brands\/\d+\/$/,
        "every list of models": /models\/$/,
        "every model": /\/m\//,
      };
      const pattern = patterns[what as keyof typeof patterns];
      const world = brandWorld(brands(8));
      walk(mirror, world);
      const choose = (due: readonly DueResource[]) => [...due].reverse().slice(0, 3);
      const storm = without(world, (url) => url !== baseUrl && pattern.test(url.slice(baseUrl.length - 1)));
      expect(walk(mirror, storm, { choose })).toMatchObject({ stopped: "approval" });
      expect(gone().filter((url) => url !== urlOf("brands/"))).toEqual([]);
      expect(walk(mirror, world)).toMatchObject({ waiting: 0, stopped: null });
      walk(mirror, world);
      expect(gone()).toEqual([]);
      expect(mirror.db.prepare("select count(*) from _resource where state <> 'held'").pluck().get()).toBe(0);
    },
  );

  it("with approval, an emptied list lets go of what it had", () => {
    const world = brandWorld(brands(6));
    walk(mirror, world);
    world.set(urlOf("brands/"), JSON.stringify(page([], null, {}, total(0))));
    for (const path of brands(6)) world.delete(urlOf(path));
    walk(mirror, world, { approve: true, maxBatches: 2, choose: (due) => due.slice(0, 1) });
    expect(gone()).toEqual(expect.arrayContaining(brands(6).map(urlOf)));
  });
});

describe("with approval", () => {
  const emptiedOf = (world: World): World => ({
    get: (url) => (url === urlOf("brands/") ? JSON.stringify(page([], null, {}, total(0))) : world.get(url)),
  });

  it("what a list had that has become empty stays where it answered since", () => {
    const world = emptiedOf(brandWorld(brands(6)));
    walk(mirror, brandWorld(brands(6)));
    expect(walk(mirror, world, { approve: true }).gone).toBe(0);
    const lists = (due: readonly DueResource[]) => due.slice(0, 1);
    expect(walk(mirror, world, { approve: true, choose: lists, maxBatches: 2 }).gone).toBe(0);
    expect(gone()).toEqual([]);
  });
});

describe("a page that has left the chain", () => {
  /** Asks for these, one after the other, and for nothing else. */
  const asking = (...paths: readonly string[]) => {
    const left = paths.map(urlOf);
    return {
      choose: (due: readonly DueResource[]) => {
        const next = left.shift();
        return due.filter(({ url }) => url === next);
      },
      maxBatches: paths.length,
    };
  };

  it("may name something new after the chain was read: that is there", () => {
    const world = brandWorld(brands(6), 3);
    walk(mirror, world);
    const shorter = brandWorld(brands(3), 3);
    const longer = brandWorld([...brands(3), brand(7)], 3);
    const inTurn: World = {
      get: (url) => (url === urlOf(pagePath(0)) ? shorter : longer).get(url),
    };
    walk(mirror, inTurn, asking("/", pagePath(0), pagePath(1)));
    expect(rowOf(brand(7))).toMatchObject({ state: "due", absent_by: null });
  });

  it("may say that it is the same after the chain was read: what it names is there", () => {
    const world = brandWorld(brands(4), 3);
    walk(mirror, world);
    const shorter = brandWorld(brands(3), 3);
    const inTurn: World = { get: (url) => (url === urlOf(pagePath(0)) ? shorter : world).get(url) };
    expect(walk(mirror, inTurn, asking("/", pagePath(0), pagePath(1))).gone).toBe(0);
    expect(rowOf(brand(3))).toMatchObject({ state: "held", absent_by: null });
  });
});

describe("a note of absence", () => {
  it("outlives a run that died, and is decided by the next one that closes", () => {
    const world = brandWorld(brands(6));
    walk(mirror, world);
    const died = beginRun(mirror);
    mirror.ingest(ids("brands/5/").map(answerGone), died);
    expect(rowOf("brands/5/")).toMatchObject({
      state: "held",
      absent_run: died,
      absent_by: "answer",
      gone_run: null,
    });
    const next = beginRun(mirror);
    expect(gone()).toEqual([]);
    // With its list of models, which nothing else leads to.
    expect(closeRun(mirror, next)).toMatchObject({ gone: 2 });
    expect(rowOf("brands/5/")).toMatchObject({ state: "gone", gone_run: next, absent_run: null });
  });

  it.each(["not-modified", "body"] as const)(
    "is taken back by %s, also for what belongs to it",
    (outcome) => {
      const world = brandWorld(brands(6));
      walk(mirror, world);
      const runId = beginRun(mirror);
      const [resourceId = 0] = ids("brands/5/");
      mirror.ingest([answerGone(resourceId)], runId);
      expect(rowOf("brands/5/m/1/").absent_by).toBe("parent");
      const about = { resourceId, fetchedAt: "2026-02-02T02:02:02.000Z" };
      const body = Buffer.from(world.get(urlOf("brands/5/")) ?? "");
      mirror.ingest(
        [outcome === "body" ? { ...about, outcome, status: 200, etag: null, body } : { ...about, outcome }],
        runId,
      );
      expect(closeRun(mirror, runId)).toMatchObject({ gone: 0 });
      for (const path of ["brands/5/", "brands/5/models/", "brands/5/m/1/"])
        expect(rowOf(path)).toMatchObject({ state: "held", absent_by: null, absent_run: null });
    },
  );

  it("is not taken back by a failure or by a body that is none", () => {
    walk(mirror, brandWorld(brands(6)));
    const runId = beginRun(mirror);
    const [resourceId = 0] = ids("brands/5/");
    const about = { resourceId, fetchedAt: "2026-02-02T02:02:02.000Z" };
    mirror.ingest([answerGone(resourceId)], runId);
    mirror.ingest([{ ...about, outcome: "failed", code: "timeout", message: "no answer" }], runId);
    mirror.ingest(
      [{ ...about, outcome: "body", status: 200, etag: null, body: Buffer.from("<html>") }],
      runId,
    );
    expect(closeRun(mirror, runId)).toMatchObject({ gone: 2 });
  });

  it("survives a rebuild", () => {
    walk(mirror, brandWorld(brands(10)));
    walk(mirror, brandWorld(brands(7)));
    const before = mirror.db.prepare("select id, absent_run, absent_by from _resource").all();
    mirror.rebuild();
    expect(mirror.db.prepare("select id, absent_run, absent_by from _resource").all()).toEqual(before);
  });
});

describe("what belongs to a tombstone", () => {
  it("stays where something else lists it, and is asked for itself", () => {
    const world = brandWorld(brands(6));
    walk(mirror, world);
    const moved = brandWorld(brands(5));
    const models = ["brands/4/m/1/", "brands/4/m/2/", "brands/5/m/1/"];
    moved.set(urlOf("brands/4/models/"), JSON.stringify(page(models, null, {}, total(3))));
    moved.set(urlOf("brands/5/m/1/"), world.get(urlOf("brands/5/m/1/")) ?? "");
    walk(mirror, moved);
    expect(rowOf("brands/5/m/1/")).toMatchObject({ state: "held", absent_by: null });
    expect(rowOf("brands/5/m/2/").state).toBe("gone");
  });

  it("is asked for itself where another list has named it all along", () => {
    const shared = (world: Map<string, string>) =>
      world.set(
        urlOf("brands/4/models/"),
        JSON.stringify(page(["brands/4/m/1/", "brands/4/m/2/", "brands/5/m/1/"], null, {}, total(3))),
      );
    walk(mirror, shared(brandWorld(brands(6))));
    const { asked } = walk(mirror, shared(brandWorld(brands(5))));
    expect(asked.filter((url) => url.includes("/5/"))).toEqual([urlOf("brands/5/m/1/")]);
    expect(rowOf("brands/5/m/1/").state).toBe("gone");
  });

  it("stays where something else leads to it, and is asked for itself", () => {
    const full = brandWorld(brands(6));
    walk(mirror, full);
    const linked = brandWorld(brands(5));
    linked.set(
      urlOf(brand(0)),
      JSON.stringify(entity({ name: "new" }, { models: urlOf("brands/5/models/") })),
    );
    const world: World = {
      get: (url) => linked.get(url) ?? (url === urlOf(brand(5)) ? undefined : full.get(url)),
    };
    walk(mirror, world);
    expect(rowOf(brand(5)).state).toBe("gone");
    expect(rowOf("brands/5/models/")).toMatchObject({ state: "due", absent_by: null });
    walk(mirror, world);
    expect(rowOf("brands/5/models/").state).toBe("held");
    expect(rowOf("brands/5/m/1/")).toMatchObject({ state: "held", absent_by: null });
  });

  it("waits while a list that may name it was not read, failed, or is partial", () => {
    const world = brandWorld(brands(6));
    walk(mirror, world);
    const shorter = brandWorld(brands(5));
    shorter.set(urlOf("brands/0/models/"), "<html>");
    walk(mirror, shorter);
    expect(rowOf("brands/5/").state).toBe("gone");
    expect(rowOf("brands/5/m/1/")).toMatchObject({ state: "held", absent_by: "parent" });
    const { asked } = walk(mirror, brandWorld(brands(5)));
    expect(asked.filter((url) => url.includes("/5/"))).toEqual([]);
    expect(rowOf("brands/5/m/1/").state).toBe("gone");
  });

  it("comes back with it, with its history", () => {
    const full = brandWorld(brands(6));
    const { runId: first } = walk(mirror, full);
    const { runId: goneRun } = walk(mirror, brandWorld(brands(5)));
    const { runId: back } = walk(mirror, full);
    expect(gone()).toEqual([]);
    for (const path of ["brands/5/", "brands/5/models/", "brands/5/m/1/"]) {
      expect(rowOf(path)).toMatchObject({ state: "held", gone_run: null, first_run: first });
      const revisions = mirror.db
        .prepare("select seq, from_run, to_run from _revision where resource_id = ? order by seq")
        .raw()
        .all(...ids(path));
      expect(revisions).toEqual([
        [1, first, goneRun],
        [2, back, null],
      ]);
    }
  });
});

it("an ownership that goes in a circle keeps no run from closing", async () => {
  const world = brandWorld(brands(6));
  walk(mirror, world);
  // As links of the service could make it: a list owned by a model that it lists.
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
