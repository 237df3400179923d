/** Sizes: a model's collection of them, each one, and its neighbours. */
import { alternativeSizes, areAdjacent, cupLabel } from "../world/sizing.ts";
import { isLive, type Size } from "../world/world.ts";
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

/** Every fifth size sends its count as a string of digits, as real services do. */
const countAsTextEvery = 5;

export function sizesEnvelope(view: View, modelId: number, page: number): SentEnvelope | null {
  const model = view.world.models[modelId];
  if (!model || !isLive(model)) return null;
  const links = { model: view.urlOf("model", modelId) };
  const sizes = model.sizes.filter(isLive);
  const summary = (size: Size): JsonObject => sizeSummary(view, size);
  if (view.paginateSizes) return pageOf(view, "sizes", modelId, page, sizes, links, summary);
  return page > 1 ? null : wholeCollection(view.urlOf("sizes", modelId), sizes, links, summary);
}

export function sizeEnvelope(view: View, id: number): SentEnvelope | null {
  const size = liveSize(view, id);
  if (!size) return null;
  const { model, cell, label, braCount } = size;
  const { system } = model.brand;
  const links = { model: view.urlOf("model", model.id), adjacent_sizes: view.urlOf("adjacent_sizes", id) };
  return entity(view.urlOf("size", id), view.urlOf("sizes", model.id), links, {
    ...publicPage(view, publicPath(size)),
    size: label,
    band: system.band(cell.bandStep),
    cup: cupLabel(cell, system),
    bra_count: id % countAsTextEvery === 4 ? String(braCount) : braCount,
    main_picture: pictureUrl(view, `sizes/${id}/${size.pictureVersion}.jpg`),
    alternative_sizes: alternativeSizes(cell, system),
    last_modified_at: size.lastModifiedAt,
  });
}

export function adjacentSizesEnvelope(view: View, id: number): SentEnvelope | null {
  const size = liveSize(view, id);
  if (!size) return null;
  const neighbours = size.model.sizes.filter((other) => isLive(other) && areAdjacent(size.cell, other.cell));
  const links = { size: view.urlOf("size", id) };
  return wholeCollection(view.urlOf("adjacent_sizes", id), neighbours, links, (other) =>
    sizeSummary(view, other),
  );
}

function sizeSummary(view: View, size: Size): JsonObject {
  return { ...publicPage(view, publicPath(size)), href: view.urlOf("size", size.id), size: size.label };
}

function publicPath({ model, label }: Size): string {
  return `${model.brand.slug}/${model.slug}/${encodeURIComponent(label)}`;
}

function liveSize(view: View, id: number): Size | null {
  const size = view.world.sizes[id];
  return size && isLive(size) ? size : null;
}
