/** The parts of the catalogue that an edit can alter; everything outside them stays as it is. */
import { readBrandAndModels, readModel, recordsOf, type TruthRecord } from "../resources/catalogue.ts";
import type { View } from "../resources/view.ts";
import type { Edit } from "../world/edits.ts";

/** By name, so that what several edits share is read once. Taken before the edit, a scope finds what is new afterwards. */
export function* scopesOf(
  view: View,
  { brand, model, concernsOtherBrands }: Edit,
): Generator<[name: string, read: () => Iterable<TruthRecord>]> {
  const { world } = view;
  yield ["brands", () => recordsOf(view, "brands", 0)];
  if (concernsOtherBrands) {
    yield [
      "related",
      function* () {
        for (const { id } of world.brands) yield* recordsOf(view, "related_brands", id);
      },
    ];
  }
  if (brand) yield [`brand ${brand.id}`, () => readBrandAndModels(view, brand)];
  if (model) yield [`model ${model.id}`, () => readModel(view, model, true)];
  const knownBrands = world.brands.length;
  const knownModels = world.models.length;
  yield [
    "new",
    function* () {
      for (const added of world.brands.slice(knownBrands)) yield* readBrandAndModels(view, added);
      for (const added of world.models.slice(knownModels)) yield* readModel(view, added, true);
    },
  ];
  if (brand && !model) {
    yield [
      `sizes of brand ${brand.id}`,
      function* () {
        for (const own of brand.models) yield* readModel(view, own, true);
      },
    ];
  }
}
