/** The search index follows changes of rows and lists, and equals the index that a rebuild creates. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Connection } from "../../../src/mirror/file/connection.ts";
import { rebuildSearchIndex } from "../../../src/mirror/search/search-index.ts";
import { tries } from "../../support/thorough.ts";
import { beginRun, closeRun, crawl, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, resultFrom, root, urlOf, worldOf } from "../support/world.ts";

const documentsIn = (db: Connection) =>
  db
    .prepare("select resource_id, kind, text, from_run, to_run from _search order by resource_id, from_run")
    .raw()
    .all();

const brandsOf = (items: readonly (readonly [path: string, listed: string, name: string, count: number])[]) =>
  worldOf({
    "/": root(),
    "brands/": { ...page([]), collection: items.map(([path, name]) => ({ href: urlOf(path), name })) },
    ...Object.fromEntries(
      items.map(([path, , name, bra_count]) => [path, entity({ name, slug: path, bra_count })]),
    ),
  });

it("the index is sound after every run and equal to a rebuilt one", async () => {
  const name = fc.constantFrom("Lace", "lace", "Tulle", "日本", "", "\ud800");
  const brand = fc.tuple(fc.constantFrom("a/", "b/", "c/"), name, name, fc.nat(2));
  const step = fc.record({
    brands: fc.uniqueArray(brand, { selector: ([path]) => path, maxLength: 3 }),
    maxBatches: fc.integer({ min: 1, max: 4 }),
    rebuilds: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async (history) => {
      await using rig = await startMirrorRig();
      const mirror = await rig.write();
      for (const { brands, maxBatches, rebuilds } of history) {
        crawl(mirror, brandsOf(brands), { maxBatches, approve: true });
        expect(problemsOf(mirror)).toEqual([]);
        if (!rebuilds) continue;
        const before = documentsIn(mirror.db);
        mirror.rebuild();
        expect(documentsIn(mirror.db)).toEqual(before);
        expect(problemsOf(mirror)).toEqual([]);
      }
    }),
    { numRuns: tries(10, 300) },
  );
});

it("a change of other fields does not write to the index", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, brandsOf([["a/", "Lace", "Lace", 1]]));
  const writes = mirror.db.prepare("select count(*) from _search_index_docsize").pluck();
  const before = [
    documentsIn(mirror.db),
    mirror.db.prepare("select * from _search_index_data").all(),
    writes.get(),
  ];
  crawl(mirror, brandsOf([["a/", "Lace", "Lace", 2]]));
  expect([
    documentsIn(mirror.db),
    mirror.db.prepare("select * from _search_index_data").all(),
    writes.get(),
  ]).toEqual(before);
});

it("a name that changes and changes back within a run leaves no document", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, brandsOf([["a/", "Lace", "Lace", 1]]));
  const before = documentsIn(mirror.db);
  const runId = beginRun(mirror);
  const id = Number(mirror.db.prepare("select id from _resource where url = ?").pluck().get(urlOf("a/")));
  for (const name of ["Tulle", "Lace"])
    mirror.ingest(
      [resultFrom(brandsOf([["a/", "Lace", name, 1]]), { id, url: urlOf("a/"), etag: null })],
      runId,
    );
  closeRun(mirror, runId);
  expect(documentsIn(mirror.db)).toEqual(before);
  expect(problemsOf(mirror)).toEqual([]);
});

it("an item listed before its kind was known is indexed once the kind is known", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const world = worldOf({
    "/": root({ featured: urlOf("featured/") }),
    "featured/": { ...page([]), collection: [{ href: urlOf("a/"), name: "Lace" }] },
  });
  crawl(mirror, world, { follow: ["featured"] });
  expect(documentsIn(mirror.db)).toEqual([]);
  world.set(urlOf("/"), JSON.stringify(root({ featured: urlOf("featured/"), brands: urlOf("brands/") })));
  world.set(
    urlOf("brands/"),
    JSON.stringify({ ...page([]), collection: [{ href: urlOf("a/"), name: "Lace" }] }),
  );
  crawl(mirror, world, { follow: ["featured"], maxBatches: 2 });
  expect(documentsIn(mirror.db)).toEqual([[expect.any(Number), "brand", "\n lace \n", 1, null]]);
  expect(problemsOf(mirror)).toEqual([]);
});

it("every one of thousands of resources is checked and rebuilt", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, brandsOf([["a/", "Lace", "Lace", 1]]));
  mirror.db.exec(
    `insert into _resource (id, url, kind, state, first_run)
       select 5000 * value, '${urlOf("")}' || value, 'brand', 'due', 1 from json_each('[1, 2, 3]');
     insert into _brand (id, name, from_run) select 5000 * value, 'Tulle', 1 from json_each('[1, 2, 3]');
     insert into _search (resource_id, kind, text, from_run) values (15000, 'brand', 'wrong', 1)`,
  );
  const urls = problemsOf(mirror).flatMap(({ code, where }) => (code === "search" ? [where] : []));
  expect([...new Set(urls)].sort()).toEqual([1, 2, 3].map((n) => urlOf(`${n}`)));
  rebuildSearchIndex(mirror.db);
  expect(problemsOf(mirror).filter(({ code }) => code === "search")).toEqual([]);
  expect(documentsIn(mirror.db)).toHaveLength(4);
});
