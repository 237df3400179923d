/** The problems that `mirror check` finds and `mirror rebuild` repairs. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { type MirrorWriter, rebuildMirror } from "../../../src/mirror/writer.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { crawl, type MirrorRig, problemsOf, someTime, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf, worldOfTruth } from "../support/world.ts";

let rig: MirrorRig;
let mirror: MirrorWriter;
beforeEach(async () => {
  rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
});

const world = () =>
  worldOf({
    "/": root(),
    "brands/": page(["b/"], "brands/2/"),
    "brands/2/": page(["c/"]),
    "b/": entity({ name: "B", slug: "b" }, { models: urlOf("b/models/"), related: urlOf("b/related/") }),
    "c/": entity({ name: "C", slug: "c" }),
    "b/models/": page(["m/"]),
    "m/": entity(
      { name: "M", manufacturer_stock_pictures: [{ url: "u", text: "t" }] },
      { brand: urlOf("b/") },
    ),
  });

const idOf = (path: string) => `(select id from _resource where url = '${urlOf(path)}')`;

describe("check", () => {
  it("a sound mirror has no problems, and its bodies and resources are counted", () => {
    crawl(mirror, world());
    expect(checkMirror(mirror, kinds)).toEqual({ bodies: 7, resources: 7, pictures: 0, problems: [] });
  });

  it("an empty mirror has no problems", () => {
    expect(checkMirror(mirror, kinds)).toEqual({ bodies: 0, resources: 0, pictures: 0, problems: [] });
  });

  it("a complete catalogue has no problems on a read-only connection", async () => {
    await using sandbox = await startSandbox({ brands: 5, models: 20, sizes: 60 });
    await using otherRig = await startMirrorRig(sandbox.url);
    crawl(await otherRig.write(), worldOfTruth(sandbox.truth({ optional: true })), { follow: ["related"] });
    expect(otherRig.read(problemsOf)).toEqual([]);
  });

  it.each<[string, string, object[]]>([
    [
      "a row",
      "update _brand_past set slug = 'other'",
      [
        { code: "row", where: urlOf("b/") },
        { code: "search", where: urlOf("b/") },
      ],
    ],
    ["an item", "update _member_past set name = 'Other'", [{ code: "row", where: urlOf("b/models/") }]],
    ["a link", "update _link_past set unfollowed_url = 'x:y'", [{ code: "row", where: urlOf("b/") }]],
    ["a list row", "update _model_picture_past set text = 'x'", [{ code: "row", where: urlOf("m/") }]],
    [
      "a row of no time",
      "update _brand_past set from_run = 0",
      [
        { code: "row", where: urlOf("b/") },
        { code: "search", where: urlOf("b/") },
      ],
    ],
  ])("%s of the past that matches no body is reported, and rebuild repairs it", (_case, damage, problems) => {
    crawl(mirror, world());
    const later = world();
    later.set(urlOf("b/"), JSON.stringify(entity({ name: "B2", slug: "b" }, { models: urlOf("b/models/") })));
    later.set(urlOf("b/models/"), JSON.stringify(page(["m2/"])));
    later.set(urlOf("m/"), JSON.stringify(entity({ name: "M2" }, { brand: urlOf("b/") })));
    crawl(mirror, later);
    expect(problemsOf(mirror)).toEqual([]);
    mirror.db.exec(damage);
    expect(problemsOf(mirror)).toMatchObject(problems);
    mirror.rebuild();
    expect(problemsOf(mirror)).toEqual([]);
  });

  it.each<[string, string, object[]]>([
    [
      "a body with one bit changed",
      `update _content set body = cast(replace(cast(body as text), '"B"', '"C"') as blob)
       where id = (select content_id from _revision where resource_id = ${idOf("b/")})`,
      [{ code: "body" }, { code: "row", where: urlOf("b/") }],
    ],
    [
      "a body cut short",
      `update _content set body = substr(body, 1, 20) where id = (select content_id from _revision where resource_id = ${idOf("b/")})`,
      [{ code: "body" }, { code: "body", where: urlOf("b/") }],
    ],
    ["a wrong SHA-256", "update _content set sha256 = zeroblob(32) where id = 1", [{ code: "body" }]],
    ["a wrong size", "update _content set size = size + 1 where id = 1", [{ code: "body" }]],
    [
      "an edited row",
      "update _brand set name = 'Other' where name = 'B'",
      [
        { code: "row", where: urlOf("b/") },
        { code: "search", where: urlOf("b/") },
      ],
    ],
    [
      "a row with another owner",
      `update _model set brand_id = ${idOf("c/")}`,
      [{ code: "row", where: urlOf("m/") }],
    ],
    [
      "a value of another type",
      "update _brand set slug = x'62' where name = 'B'",
      [{ code: "row", where: urlOf("b/") }],
    ],
    [
      "a missing row",
      "delete from _brand where name = 'B'",
      [
        { code: "row", where: urlOf("b/") },
        { code: "search", where: urlOf("b/") },
      ],
    ],
    [
      "a search document with wrong words",
      `update _search set text = '\n other \n' where resource_id = ${idOf("b/")}`,
      [
        { code: "search", where: urlOf("b/") },
        { code: "search", where: urlOf("b/") },
      ],
    ],
    [
      "a missing search document",
      `insert into _search_index (_search_index, rowid, kind, text)
         select 'delete', id, kind, text from _search where resource_id = ${idOf("m/")};
       delete from _search where resource_id = ${idOf("m/")}`,
      [{ code: "search", where: urlOf("m/") }],
    ],
    [
      "a document that the index lacks",
      `insert into _search_index (_search_index, rowid, kind, text)
         select 'delete', id, kind, text from _search where resource_id = ${idOf("c/")}`,
      [{ code: "search", where: urlOf("c/") }],
    ],
    [
      "index entries without a document",
      "insert into _search_index (rowid, kind, text) values (4711, 'brand', 'stray')",
      [{ code: "search", where: "_search" }],
    ],
    [
      "options of a run that are a list",
      "update _run set scope_json = '[]' where id = 1",
      [{ code: "row", where: "_run 1" }],
    ],
    [
      "figures of a run that are none",
      `update _run set counts_json = '{"new":"x"}', coverage_json = '[{}]' where id = 1`,
      [
        { code: "row", where: "_run 1", message: "its counts_json is not that of a run" },
        { code: "row", where: "_run 1", message: "its coverage_json is not that of a run" },
      ],
    ],
    ["a missing list row", "delete from _model_picture", [{ code: "row", where: urlOf("m/") }]],
    [
      "an extra list row",
      `insert into _model_picture (parent_id, n, from_run) values (${idOf("m/")}, 7, 1)`,
      [{ code: "row", where: urlOf("m/") }],
    ],
    [
      "a row in the table of another kind",
      `insert into _size (id, from_run) values (${idOf("b/")}, 1)`,
      [{ code: "row", where: urlOf("b/") }],
    ],
    [
      "rows of a resource without a body",
      `insert into _resource (url, kind, state, first_run) values ('${urlOf("x/")}', 'brand', 'due', 1);
       insert into _brand (id, from_run) values (${idOf("x/")}, 1);
       insert into _link (from_id, name, kind, from_run) values (${idOf("x/")}, 'models', 'models', 1);
       insert into _page (id, collection_id) values (${idOf("x/")}, ${idOf("x/")});
       insert into _member (page_id, n, from_run) values (${idOf("x/")}, 0, 1)`,
      [
        { code: "row", where: urlOf("x/") },
        { code: "link", where: urlOf("x/") },
        { code: "member", where: urlOf("x/") },
      ],
    ],
    [
      "a link with another target",
      `update _link set to_id = ${idOf("c/")} where name = 'brand'`,
      [{ code: "link", where: urlOf("m/") }],
    ],
    [
      "a link that is not followed, with another address",
      "update _link set unfollowed_url = 'https://x.example/' where name = 'related'",
      [{ code: "link", where: urlOf("b/") }],
    ],
    ["a missing link", "delete from _link where name = 'brand'", [{ code: "link", where: urlOf("m/") }]],
    [
      "a missing item",
      `delete from _member where item_id = ${idOf("m/")}`,
      [{ code: "member", where: urlOf("b/models/") }],
    ],
    [
      "an item under another name",
      `update _member set name = 'Other' where item_id = ${idOf("m/")}`,
      [{ code: "member", where: urlOf("b/models/") }],
    ],
    [
      "a page with another next page",
      `update _page set next_id = ${idOf("b/models/")} where id = ${idOf("brands/")}`,
      [{ code: "page", where: urlOf("brands/") }],
    ],
    [
      "a page without its next page",
      `update _page set next_id = null where id = ${idOf("brands/")}`,
      [{ code: "page", where: urlOf("brands/") }],
    ],
    [
      "a wrong total",
      `update _page set total = 5 where id = ${idOf("b/models/")}`,
      [{ code: "page", where: urlOf("b/models/") }],
    ],
    [
      "a held resource without a revision",
      `update _revision set to_run = 1 where resource_id = ${idOf("b/")}`,
      [{ code: "state", where: urlOf("b/") }],
    ],
    [
      "a tombstone with a current revision",
      `update _resource set state = 'gone' where id = ${idOf("b/")}`,
      [{ code: "state", where: urlOf("b/") }],
    ],
    [
      "a resource that is its own owner",
      `update _resource set owner_id = id where id = ${idOf("b/")}`,
      [{ code: "state", where: urlOf("b/"), message: "is its own owner" }],
    ],
    [
      "a reference to nothing",
      "pragma foreign_keys = off; update _link set to_id = 4711 where name = 'brand'",
      [{ code: "foreign-key", where: "_link" }],
    ],
  ])("%s is found", async (_case, damage, expected) => {
    crawl(mirror, world());
    mirror.db.unsafeMode().exec(damage);
    mirror.close();
    expect(rig.read(problemsOf)).toMatchObject(expected);
  });

  it("at most a hundred problems are reported", () => {
    const many = Array.from({ length: 150 }, (_, n) => `x/${n}/`);
    const bodies = Object.fromEntries(many.map((path) => [path, entity({ name: path })]));
    crawl(mirror, worldOf({ "/": root(), "brands/": page(many), ...bodies }));
    mirror.db.exec("update _brand set name = 'Other'");
    expect(problemsOf(mirror)).toHaveLength(100);
  });
});

describe("rebuild", () => {
  it("a rebuild gives the same rows, links and items, and counts the resources", () => {
    crawl(mirror, world());
    const before = canonicalDump(mirror);
    expect(mirror.rebuild()).toEqual({ resources: 7, discovered: 0 });
    expect(canonicalDump(mirror)).toEqual(before);
  });

  it("a rebuild repairs edited, missing and extra rows, links and items", async () => {
    crawl(mirror, world());
    const before = canonicalDump(mirror);
    mirror.db.exec(
      `update _brand set name = 'Other' where name = 'B'; delete from _brand where name = 'C';
       insert into _size (id, from_run) values (${idOf("b/")}, 1); delete from _link; delete from _member; delete from _model_picture;
       delete from _search; insert into _search_index (_search_index) values ('delete-all')`,
    );
    mirror.close();
    await rebuildMirror({ file: rig.file, kinds, openedAt: someTime });
    expect(rig.read(canonicalDump)).toEqual(before);
    expect(rig.read(problemsOf)).toEqual([]);
  });

  it("a failed rebuild changes nothing", () => {
    crawl(mirror, world());
    mirror.db.exec(
      `update _brand set name = 'Other'; update _content set body = x'00' where id = (select max(id) from _content)`,
    );
    const before = canonicalDump(mirror);
    expect(() => mirror.rebuild()).toThrow();
    expect(canonicalDump(mirror)).toEqual(before);
  });

  it("a rebuild keeps tombstones, even if other resources still link to them", () => {
    const alive = world();
    crawl(mirror, alive);
    for (const path of ["b/", "b/models/", "m/"]) alive.delete(urlOf(path));
    crawl(mirror, alive);
    const before = canonicalDump(mirror);
    expect(before[urlOf("m/")]).toMatchObject({ state: "gone", sha256: null, rows: { model: [{}] } });
    mirror.rebuild();
    expect(canonicalDump(mirror)).toEqual(before);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a resource that was discovered before its owner has its owner after a rebuild", () => {
    const met = worldOf({
      "/": root(),
      "brands/": page(["b/"]),
      "b/": entity({ name: "B" }, { related: urlOf("b/related/") }),
      "b/related/": page([]),
    });
    crawl(mirror, met);
    met.set(urlOf("b/"), JSON.stringify(entity({ name: "B" }, { models: urlOf("b/models/") })));
    met.set(urlOf("b/models/"), JSON.stringify(page(["m/1/"])));
    met.set(urlOf("m/1/"), JSON.stringify(entity({ name: "one" }, { same_cut: urlOf("m/1/same/") })));
    met.set(urlOf("m/1/same/"), JSON.stringify(page(["m/2/"])));
    met.set(urlOf("m/2/"), JSON.stringify(entity({ name: "two" })));
    crawl(mirror, met, { follow: ["same_cut"] });
    met.set(urlOf("b/models/"), JSON.stringify(page(["m/1/", "m/2/"])));
    crawl(mirror, met, { follow: ["same_cut"] });
    expect(problemsOf(mirror)).toEqual([]);
    expect(mirror.db.prepare("select name, brand_href from model order by name").raw().all()).toEqual([
      ["one", urlOf("b/")],
      ["two", urlOf("b/")],
    ]);
  });
});
