/** The kind of a resource follows from the link to it, never from its path. */
import { beforeEach, expect, it, onTestFinished } from "vitest";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { crawl, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../support/world.ts";

let mirror: MirrorWriter;
beforeEach(async () => {
  const rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
});

function resourceAt(path: string): unknown {
  return mirror.db.prepare("select kind, state from _resource where url = ?").get(urlOf(path));
}

function conflicts(): unknown[] {
  return mirror.db
    .prepare(
      "select r.url, i.pointer from _issue i join _resource r on r.id = i.resource_id where i.code = 'kind-conflict'",
    )
    .raw()
    .all();
}

it("the kind of a resource comes from its link, whatever its path", () => {
  crawl(
    mirror,
    worldOf({
      "/": root({ brands: urlOf("x/") }),
      "x/": page(["brands/sizes/me/"]),
      "brands/sizes/me/": entity({ name: "A" }, { models: urlOf("brands/") }),
      "brands/": page(["rate_limit/"]),
      "rate_limit/": entity({ name: "M" }),
    }),
  );
  expect(resourceAt("brands/sizes/me/")).toEqual({ kind: "brand", state: "held" });
  expect(resourceAt("brands/")).toEqual({ kind: "models", state: "held" });
  expect(resourceAt("rate_limit/")).toEqual({ kind: "model", state: "held" });
});

it("a resource keeps its first kind, and conflicting links are reported", () => {
  crawl(
    mirror,
    worldOf({
      "/": root(),
      "brands/": page(["a/"]),
      "a/": entity({ name: "A" }, { models: urlOf("a/models/") }),
      "a/models/": page(["a/"], null, { brand: urlOf("brands/") }),
    }),
  );
  expect(resourceAt("a/")).toEqual({ kind: "brand", state: "held" });
  expect(resourceAt("brands/")).toEqual({ kind: "brands", state: "held" });
  expect(conflicts().sort()).toEqual([
    [urlOf("a/models/"), "/collection/0/href"],
    [urlOf("a/models/"), "/links/brand"],
  ]);
  expect(problemsOf(mirror)).toEqual([]);
});

it("a resource of the other area has state elsewhere and is not requested", () => {
  const { requested } = crawl(
    mirror,
    worldOf({
      "/": root({ brands: urlOf("brands/"), me: urlOf("me/"), rate_limit: urlOf("limit/") }),
      "brands/": page([]),
    }),
  );
  expect(resourceAt("me/")).toEqual({ kind: "me", state: "elsewhere" });
  expect(resourceAt("limit/")).toEqual({ kind: "rate_limit", state: "elsewhere" });
  expect(requested).toHaveLength(2);
});

it("the target of an unknown link becomes a resource once the link is followed", () => {
  const world = worldOf({
    "/": root({ brands: urlOf("brands/"), news: urlOf("news/") }),
    "brands/": page([]),
    "news/": entity({ title: "News" }),
  });
  crawl(mirror, world);
  expect(resourceAt("news/")).toBeUndefined();
  expect(canonicalDump(mirror)[urlOf("/")]?.links.news).toEqual(["?news", urlOf("news/")]);
  expect(crawl(mirror, world, { follow: ["news"] }).requested).toContain(urlOf("news/"));
  expect(resourceAt("news/")).toEqual({ kind: "?news", state: "held" });
  expect(problemsOf(mirror)).toEqual([]);
});

it("a resource of an unknown kind gets its kind and rows from a later link", () => {
  const world = worldOf({
    "/": root({ newest: urlOf("a/"), brands: urlOf("brands/") }),
    "brands/": page([]),
    "a/": entity({ name: "A" }),
  });
  crawl(mirror, world, { follow: ["newest"] });
  expect(resourceAt("a/")).toEqual({ kind: "?newest", state: "held" });
  world.set(urlOf("brands/"), JSON.stringify(page(["a/"])));
  crawl(mirror, world);
  expect(resourceAt("a/")).toEqual({ kind: "brand", state: "held" });
  expect(mirror.db.prepare("select name from brand").pluck().all()).toEqual(["A"]);
  expect(problemsOf(mirror)).toEqual([]);
});

it("a body that does not fit a later known kind stays, and the mirror is sound", () => {
  const world = worldOf({
    "/": root({ newest: urlOf("a/"), brands: urlOf("brands/") }),
    "brands/": page([]),
    "a/": page(["b/"]),
  });
  crawl(mirror, world, { follow: ["newest"] });
  world.set(urlOf("brands/"), JSON.stringify(page(["a/"])));
  crawl(mirror, world);
  expect(problemsOf(mirror)).toEqual([]);
  const before = canonicalDump(mirror);
  mirror.rebuild();
  expect(canonicalDump(mirror)).toEqual(before);
});

it("a resource is not owned by a list of another kind, nor by what it owns itself", () => {
  const world = worldOf({
    "/": root(),
    "brands/": page(["a/", "b/"]),
    "a/": entity({ name: "A" }, { models: urlOf("a/models/"), news: urlOf("a/news/") }),
    "a/models/": page(["", "brands/"]),
    "a/news/": page([""]),
    "b/": entity({ name: "B" }),
  });
  crawl(mirror, world, { follow: ["news"] });
  const ownerOf = (path: string) =>
    mirror.db.prepare("select owner_id from _resource where url = ?").pluck().get(urlOf(path));
  expect(ownerOf("")).toBeNull();
  crawl(mirror, worldOf({ "/": root(), "brands/": page(["b/"]), "b/": entity({ name: "B" }) }));
  expect(resourceAt("")).toEqual({ kind: "root", state: "held" });
  expect(resourceAt("brands/")).toEqual({ kind: "brands", state: "held" });
  expect(resourceAt("a/")).toEqual({ kind: "brand", state: "gone" });
});
