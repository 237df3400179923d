import { describe, expect, it } from "vitest";
import type { Options } from "../../support/independent-service/options.ts";
import { isThorough } from "../../support/thorough.ts";
import { differencesFromCatalogue } from "./support/compare-with-data.ts";
import { startIndependentRig } from "./support/rig.ts";

const variants: Readonly<Record<string, Partial<Options>>> = {
  "the default choices": {},
  "relative addresses on the paths of the specification": { addresses: "relative", layout: "specified" },
  "pages of one entry": { pageSize: 1 },
  "lists without pages": { paged: [] },
  "totals of the page, without compression": { pageTotal: "entries", emptyLastPage: false, gzip: false },
  ...(isThorough && {
    "the paths of the specification": { layout: "specified" },
    "relative addresses": { addresses: "relative" },
    "the root at the top": { basePath: "" },
    "lists in alphabetical order": { order: "name" },
    "Last-Modified only": { validators: "last-modified" },
    "no validators": { validators: "none" },
    "the label in a field called size": { sizeLabel: "size" },
  }),
};

describe("first sync of the independent service", () => {
  it.each(Object.entries(variants))(
    "a first sync stores every body and row, with %s",
    async (_name, options) => {
      await using rig = await startIndependentRig(options);
      const report = await rig.sync();
      expect(differencesFromCatalogue(rig)).toEqual([]);
      expect(report).toMatchObject({
        complete: true,
        stopped: null,
        resources: { failed: 0, skipped: 0, partial: 0 },
      });
    },
  );

  it("a first sync differs from data that has changed since, in any field of any kind", async () => {
    await using rig = await startIndependentRig({ sizeLabel: "size" });
    await rig.sync();
    const { data } = rig.service;
    const [brand] = data.brands;
    const [size] = data.sizes;
    const model = data.models.find(({ pictures }) => pictures.length > 0);
    if (!brand || !model || !size) throw new Error("no data");
    const edits: (readonly [object, object])[] = [
      [brand, { twitter: "other" }],
      [brand, { changedAt: 0 }],
      [model, { code: "other" }],
      [model, { stockPicture: null, isDiscontinued: !model.isDiscontinued }],
      [model, { pictures: [] }],
      [size, { name: "other" }],
      [size, { owners: -1 }],
    ];
    for (const [item, edit] of edits) {
      const before = { ...item };
      Object.assign(item, edit);
      expect(differencesFromCatalogue(rig)).not.toEqual([]);
      Object.assign(item, before);
    }
    expect(differencesFromCatalogue(rig)).toEqual([]);
  });

  it("a first sync that follows optional links has each relation of the service's data", async () => {
    await using rig = await startIndependentRig({ layout: "specified" });
    await rig.sync({ depth: "models", follow: ["related", "same_cut"] });
    const { brands, models } = rig.service.data;
    const href = (document: "brand" | "model", id: number) => rig.service.addresses.write({ document, id });
    const pairs = <T extends { readonly id: number }>(
      items: readonly T[],
      document: "brand" | "model",
      name: string,
      isLike: (a: T, b: T) => boolean,
    ) =>
      items.flatMap((a) =>
        items
          .filter((b) => a !== b && isLike(a, b))
          .map((b) => [href(document, a.id), name, href(document, b.id)]),
      );
    const expected = [
      ...pairs(brands, "brand", "related", (a, b) => a.sizingSystem === b.sizingSystem),
      ...pairs(models, "model", "related", (a, b) => a.brand === b.brand),
      ...pairs(models, "model", "same_cut", (a, b) => a.type === b.type),
    ];
    const held = rig.read(({ db }) =>
      db.prepare("select href, name, related_href from relation").raw().all(),
    );
    expect(held.map(String).sort()).toEqual(expected.map(String).sort());
  });
});
