import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dayMs, hourMs, type Options } from "../../support/independent-service/options.ts";
import { isThorough, someOf, tries } from "../../support/thorough.ts";
import { differencesFromCatalogue } from "./support/compare-with-data.ts";
import { type IndependentRig, startIndependentRig } from "./support/rig.ts";

const goneIn = (rig: IndependentRig) =>
  rig.read(({ db }) =>
    db.prepare<[], string>("select url from _resource where state = 'gone' order by url").pluck().all(),
  );

/** Verifies until a run is complete: an absence in a list of several pages takes two readings. */
async function verify(rig: IndependentRig): Promise<void> {
  for (let run = 0; run < 4; run++) {
    rig.advance(hourMs);
    const { complete } = await rig.sync({ mode: "verify", approve: true });
    if (complete && differencesFromCatalogue(rig).length === 0) return;
  }
}

/** Removes a model and its sizes, and returns their addresses. */
function removeModel(rig: IndependentRig, index: number): string[] {
  const { data, addresses } = rig.service;
  const id = data.models[index]?.id ?? 0;
  const sizes = data.sizes.filter(({ model }) => model === id);
  const removed = [
    addresses.write({ document: "model", id }),
    ...sizes.map((size) => addresses.write({ document: "size", id: size.id })),
  ];
  data.models.splice(index, 1);
  data.sizes = data.sizes.filter(({ model }) => model !== id);
  data.removedAt = rig.clock.now();
  return removed;
}

const choices: Readonly<Record<string, Partial<Options>>> = {
  "the default choices": {},
  "410 for removed items on the paths of the specification": { layout: "specified", removed: 410 },
  "a new tag in each response": { rotatingTags: true },
  ...(isThorough && {
    "410 for removed items": { removed: 410 },
    "lists in alphabetical order": { order: "name" },
    "lists on one page": { paged: [], pageSize: 50 },
    "no validators": { validators: "none" },
    "Last-Modified only": { validators: "last-modified" },
  }),
};

describe("later sync of the independent service", () => {
  it("a later sync costs nothing counted when nothing has changed", async () => {
    const allowance = { requests: 500, windowMs: dayMs, start: "fixed", per: "service" } as const;
    await using rig = await startIndependentRig({ allowance, allowanceFields: "x-epoch" });
    await rig.sync();
    rig.advance(dayMs);
    const before = rig.service.requests.length;
    expect(await rig.sync({ mode: "verify" })).toMatchObject({ complete: true, resources: { changed: 0 } });
    const statuses = new Set(rig.service.requests.slice(before).map(({ status }) => status));
    expect([...statuses]).toEqual([304]);
  });

  it.each(someOf(Object.entries(choices), 2))(
    "a later sync finds edits, additions and removals, with %s",
    async (_name, options) => {
      await using rig = await startIndependentRig(options);
      await rig.sync();
      rig.advance(dayMs);
      const { data, addresses } = rig.service;
      const changedAt = rig.clock.now();
      const [brand, , other] = data.brands;
      const [model, , , next] = data.models;
      const size = data.sizes.at(-1);
      if (!brand || !other || !model || !next || !size) throw new Error("no data");
      Object.assign(brand, { name: "Renamed", twitter: "now", facebook: null, changedAt });
      Object.assign(model, { name: "Also renamed", pictures: [], isDiscontinued: true, changedAt });
      Object.assign(size, { name: "100Z", owners: 0, changedAt });
      data.brands.push({ ...brand, id: 1, name: "New", slug: "new", changedAt });
      data.models.push({ ...model, id: 2, brand: 1, slug: "first", name: "First", changedAt });
      data.sizes.push({ ...size, id: 3, model: 2, name: "65C", changedAt });
      const removed = removeModel(rig, data.models.indexOf(next));

      const report = await rig.sync();
      expect(report).toMatchObject({ stopped: null, resources: { failed: 0, skipped: 0 } });
      await verify(rig);
      expect(differencesFromCatalogue(rig)).toEqual([]);
      expect(goneIn(rig)).toEqual(expect.arrayContaining(removed));
      const live = [...data.models.map(({ id }) => addresses.write({ document: "model", id }))];
      expect(goneIn(rig).filter((url) => live.includes(url))).toEqual([]);
    },
  );

  it("a later sync revives an item that comes back", async () => {
    await using rig = await startIndependentRig();
    await rig.sync();
    const { data } = rig.service;
    const before = { models: [...data.models], sizes: [...data.sizes] };
    rig.advance(dayMs);
    const removed = removeModel(rig, 3);
    await verify(rig);
    expect(goneIn(rig)).toEqual(expect.arrayContaining(removed));
    Object.assign(data, { ...before, removedAt: rig.clock.now() });
    await verify(rig);
    expect(differencesFromCatalogue(rig)).toEqual([]);
    expect(goneIn(rig)).toEqual([]);
  });

  it("a later sync of lists that move between two pages removes nothing that exists", async () => {
    const edit = fc.record({ model: fc.nat(24), size: fc.nat(199), budget: fc.integer({ min: 1, max: 60 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
        await using rig = await startIndependentRig({ emptyLastPage: false });
        await rig.sync({ depth: "models" });
        const { data, addresses } = rig.service;
        for (const { model, size, budget } of edits) {
          rig.advance(hourMs);
          const changedAt = rig.clock.now();
          Object.assign(data.models[model] ?? {}, { changedAt });
          Object.assign(data.sizes[size] ?? {}, { changedAt });
          await rig.sync({ depth: "models", budget, mode: "verify", approve: true });
          const live = new Set(data.models.map(({ id }) => addresses.write({ document: "model", id })));
          expect(goneIn(rig).filter((url) => live.has(url))).toEqual([]);
        }
        await rig.sync();
        await verify(rig);
        expect(differencesFromCatalogue(rig)).toEqual([]);
      }),
      { numRuns: tries(1, 10) },
    );
  });

  it("a later sync is complete if collection totals count the entries of their page", async () => {
    await using rig = await startIndependentRig({ collectionTotal: "page" });
    expect(await rig.sync()).toMatchObject({ complete: true, resources: { partial: 0 } });
    rig.advance(dayMs);
    const removed = removeModel(rig, 3);
    await verify(rig);
    expect(differencesFromCatalogue(rig)).toEqual([]);
    expect(goneIn(rig)).toEqual(expect.arrayContaining(removed));
  });

  it("a later sync continues after cursors that have ended", async () => {
    await using rig = await startIndependentRig({ cursorWindowMs: dayMs });
    await rig.sync({ budget: 60 });
    rig.advance(dayMs);
    await rig.sync({ budget: 120 });
    rig.advance(dayMs);
    await verify(rig);
    expect(differencesFromCatalogue(rig)).toEqual([]);
    expect(goneIn(rig)).toEqual([]);
  });
});
