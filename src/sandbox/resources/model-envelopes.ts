/** Models: a brand's list, each model, its related models and those of the same cut. */
import { isLive, type Model } from "../world/world.ts";
import {
  entity,
  type JsonObject,
  pageOf,
  pictureUrl,
  publicPage,
  type SentEnvelope,
  type View,
  wholeCollection,
} from "./view.ts";

const relatedModels = 5;
const sameCutModels = 3;
const colours = ["Black", "White", "Rouge, foncé", "Nude", "Blue"];

export function modelsEnvelope(view: View, brandId: number, page: number): SentEnvelope | null {
  const brand = view.world.brands[brandId];
  if (!brand || !isLive(brand)) return null;
  const links = { brand: view.urlOf("brand", brandId) };
  const models = brand.models.filter(isLive);
  return pageOf(view, "models", brandId, page, models, links, (model) => modelSummary(view, model));
}

export function modelEnvelope(view: View, id: number): SentEnvelope | null {
  const model = liveModel(view, id);
  if (!model) return null;
  const { brand, slug } = model;
  const links = {
    brand: view.urlOf("brand", brand.id),
    same_cut: view.urlOf("same_cut", id),
    related: view.urlOf("related_models", id),
    sizes: view.urlOf("sizes", id),
  };
  return entity(view.urlOf("model", id), view.urlOf("models", brand.id), links, {
    ...publicPage(view, `${brand.slug}/${slug}`),
    code: model.code,
    name: model.name,
    full_name: `${model.name} (${model.code})`,
    slug,
    brand_slug: brand.slug,
    bra_count: model.braCount,
    is_discontinued: model.isDiscontinued,
    type: model.type,
    official_url: `https://${brand.slug}.example/${slug}`,
    main_picture: pictureUrl(view, `models/${id}/main.jpg`),
    main_stock_picture: model.stockPictures > 0 ? pictureUrl(view, `models/${id}/stock-1.jpg`) : null,
    manufacturer_stock_pictures: Array.from({ length: model.stockPictures }, (_, index) => ({
      url: pictureUrl(view, `models/${id}/stock-${index + 1}.jpg`),
      text: colours[index % colours.length] ?? "",
    })),
    last_modified_at: model.lastModifiedAt,
  });
}

export function relatedModelsEnvelope(view: View, id: number): SentEnvelope | null {
  return nextModels(view, "related_models", id, relatedModels, () => true);
}

export function sameCutEnvelope(view: View, id: number): SentEnvelope | null {
  return nextModels(view, "same_cut", id, sameCutModels, (model, other) => model.type === other.type);
}

/** The next live models in the brand's list, cyclically. */
function nextModels(
  view: View,
  kind: "related_models" | "same_cut",
  id: number,
  most: number,
  fits: (model: Model, other: Model) => boolean,
): SentEnvelope | null {
  const model = liveModel(view, id);
  if (!model) return null;
  const { models } = model.brand;
  const start = models.indexOf(model);
  const found: Model[] = [];
  for (let step = 1; step < models.length && found.length < most; step++) {
    const other = models[(start + step) % models.length];
    if (other && isLive(other) && fits(model, other)) found.push(other);
  }
  const links = { model: view.urlOf("model", id) };
  return wholeCollection(view.urlOf(kind, id), found, links, (other) => modelSummary(view, other));
}

function modelSummary(view: View, { id, brand, slug, name }: Model): JsonObject {
  return { ...publicPage(view, `${brand.slug}/${slug}`), href: view.urlOf("model", id), name };
}

function liveModel(view: View, id: number): Model | null {
  const model = view.world.models[id];
  return model && isLive(model) ? model : null;
}
