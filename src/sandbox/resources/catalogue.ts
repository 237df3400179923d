/** Current resources of the catalogue: one envelope, or all of them. */
import { sizingSystems } from "../world/sizing.ts";
import { type Brand, isLive, type Model } from "../world/world.ts";
import * as brands from "./brand-envelopes.ts";
import * as models from "./model-envelopes.ts";
import type { CatalogueKind, Resource } from "./resource.ts";
import * as sizes from "./size-envelopes.ts";
import type { SentEnvelope, View } from "./view.ts";

const envelopes: Record<CatalogueKind, (view: View, id: number, page: number) => SentEnvelope | null> = {
  root: brands.rootEnvelope,
  brands: brands.brandsEnvelope,
  brand: brands.brandEnvelope,
  related_brands: brands.relatedBrandsEnvelope,
  sizings: brands.sizingsEnvelope,
  sizing: brands.sizingEnvelope,
  models: models.modelsEnvelope,
  model: models.modelEnvelope,
  related_models: models.relatedModelsEnvelope,
  same_cut: models.sameCutEnvelope,
  sizes: sizes.sizesEnvelope,
  size: sizes.sizeEnvelope,
  adjacent_sizes: sizes.adjacentSizesEnvelope,
};

export interface CatalogueResource extends Resource {
  readonly kind: CatalogueKind;
}

/** @returns null if there is no such resource */
export function catalogueEnvelope(view: View, { kind, id, page }: CatalogueResource): SentEnvelope | null {
  return envelopes[kind](view, id, page);
}

export interface TruthRecord {
  /** As the sandbox's links have it. */
  readonly url: string;
  readonly kind: CatalogueKind;
  /** The response body; `JSON.stringify` gives its exact bytes. */
  readonly body: SentEnvelope;
}

export interface TruthOptions {
  /** Includes the targets of optional links (`related`, `same_cut`, `adjacent_sizes`, `sizing`, `main_sizing`). */
  readonly optional?: boolean;
}

/** All resources of a complete mirror down to the sizes, including each page of each collection. */
export function* readTruth(view: View, { optional = false }: TruthOptions = {}): Generator<TruthRecord> {
  yield* recordsOf(view, "root", 0);
  yield* recordsOf(view, "brands", 0);
  for (const brand of view.world.brands.filter(isLive)) {
    yield* readBrand(view, brand, optional);
    for (const model of brand.models.filter(isLive)) yield* readModel(view, model, optional);
  }
  if (optional) for (const id of sizingSystems.keys()) yield* recordsOf(view, "sizing", id);
}

/** A brand with its lists and each model's entity and lists, without sizes. */
export function* readBrandAndModels(view: View, brand: Brand): Generator<TruthRecord> {
  if (!isLive(brand)) return;
  yield* readBrand(view, brand, true);
  for (const model of brand.models.filter(isLive)) yield* readModelItself(view, model, true);
}

export function* readModel(view: View, model: Model, optional: boolean): Generator<TruthRecord> {
  if (!isLive(model)) return;
  yield* readModelItself(view, model, optional);
  yield* recordsOf(view, "sizes", model.id);
  for (const { id } of model.sizes.filter(isLive)) {
    yield* recordsOf(view, "size", id);
    if (optional) yield* recordsOf(view, "adjacent_sizes", id);
  }
}

/** Every page of one resource. */
export function* recordsOf(view: View, kind: CatalogueKind, id: number): Generator<TruthRecord> {
  for (let page = 1; ; page++) {
    const body = catalogueEnvelope(view, { kind, id, page });
    if (!body) return;
    yield { url: body.self, kind, body };
    if (body.meta.paginated !== true || body.meta.next === null) return;
  }
}

function* readBrand(view: View, { id }: Brand, optional: boolean): Generator<TruthRecord> {
  yield* recordsOf(view, "brand", id);
  yield* recordsOf(view, "models", id);
  if (!optional) return;
  yield* recordsOf(view, "related_brands", id);
  yield* recordsOf(view, "sizings", id);
}

function* readModelItself(view: View, { id }: Model, optional: boolean): Generator<TruthRecord> {
  yield* recordsOf(view, "model", id);
  if (!optional) return;
  yield* recordsOf(view, "related_models", id);
  yield* recordsOf(view, "same_cut", id);
}
