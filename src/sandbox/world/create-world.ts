/**
 * Creates a world, and each new brand, model and size. Each draws from a random stream of its own number, so the world
 * is a pure function of its seed, its totals and the later edits.
 */
import {
  apportion,
  brandPopularityTail,
  brasPerSizeTail,
  modelsPerBrandExponent,
  paretoQuantile,
  sizesPerModelTail,
  zipfWeights,
} from "../distributions.ts";
import { Random, streams } from "../random.ts";
import { firstDaysDate } from "./dates.ts";
import { brandName, modelName, uniqueSlug } from "./names.ts";
import { bandSteps, cupSteps, type GridCell, maxSizes, sizeLabel, sizingSystems } from "./sizing.ts";
import type { Brand, Model, Size, World, WorldTotals } from "./world.ts";

/** The smallest brand gets no models, so one collection is empty. A model gets at most as many sizes as exist. */
export function createWorld(seed: number, totals: WorldTotals): World {
  const world: World = { seed, brands: [], models: [], sizes: [], brandBySlug: new Map(), step: 0 };
  const modelCounts = apportion(
    totals.models,
    zipfWeights(Math.max(1, totals.brands - 1), modelsPerBrandExponent),
  );
  const random = new Random(seed, streams.sizesPerModel);
  const sizeCounts = apportion(
    totals.sizes,
    Array.from({ length: totals.models }, () => paretoQuantile(random.next(), sizesPerModelTail)),
  );
  for (let brandId = 0; brandId < totals.brands; brandId++) {
    const brand = createBrand(world);
    const modelCount = modelCounts[brandId] ?? 0;
    for (let count = 0; count < modelCount; count++) {
      const model = createModel(world, brand);
      const cells = gridCells(sizeCounts[model.id] ?? 0, new Random(seed, streams.model, model.id, 1));
      for (const cell of cells) createSize(world, model, cell);
    }
  }
  return world;
}

/** A block of neighbouring cells, like a real model's range of sizes. */
function gridCells(requested: number, random: Random): GridCell[] {
  const count = Math.min(requested, maxSizes);
  const columns = Math.ceil(Math.sqrt(count));
  const rows = Math.ceil(count / Math.max(1, columns));
  const firstBand = random.integer(bandSteps - rows + 1);
  const firstCup = random.integer(cupSteps - columns + 1);
  return Array.from({ length: count }, (_, index) => ({
    bandStep: firstBand + Math.floor(index / columns),
    cupStep: firstCup + (index % columns),
  }));
}

export const modelTypes = [
  "Underwired unpadded bra",
  "Underwired padded bra",
  "Wireless bra",
  "Sports bra",
  "Nursing bra",
  "Bralette",
  "Longline bra",
];

export function createBrand(world: World, lastModifiedAt?: string): Brand {
  const id = world.brands.length;
  const random = new Random(world.seed, streams.brand, id);
  const name = brandName(id, random);
  const slug = uniqueSlug(name, `brand-${id}`, (taken) => world.brandBySlug.has(taken));
  const brand: Brand = {
    id,
    slug,
    system: random.pick(sizingSystems),
    models: [],
    modelBySlug: new Map(),
    name,
    twitter: random.chance(0.5) ? `@${slug.replaceAll("-", "_")}` : null,
    facebook: random.chance(0.5) ? `https://social.example/${slug}` : null,
    logoVersion: 1,
    popularity: paretoQuantile(new Random(world.seed, streams.brand, id, 1).next(), brandPopularityTail),
    braCount: 0,
    lastModifiedAt: lastModifiedAt ?? firstDaysDate(random),
    isGone: false,
  };
  world.brands.push(brand);
  world.brandBySlug.set(slug, brand);
  return brand;
}

/** @param position in its brand's list; default: the end */
export function createModel(
  world: World,
  brand: Brand,
  lastModifiedAt?: string,
  position = brand.models.length,
): Model {
  const id = world.models.length;
  const random = new Random(world.seed, streams.model, id);
  const ownName = modelName(id, random);
  // Every 25th has the name of the previous model: names are not unique.
  const name = id % 25 === 19 ? (brand.models.at(-1)?.name ?? ownName) : ownName;
  const model: Model = {
    id,
    brand,
    slug: uniqueSlug(name, `model-${id}`, (taken) => brand.modelBySlug.has(taken)),
    code: `${random.hex(2).toUpperCase()}${1000 + random.integer(9000)}`,
    sizes: [],
    sizeByLabel: new Map(),
    name,
    type: random.pick(modelTypes),
    isDiscontinued: random.chance(0.3),
    stockPictures: random.integer(4),
    braCount: 0,
    lastModifiedAt: lastModifiedAt ?? firstDaysDate(random),
    isGone: false,
  };
  world.models.push(model);
  brand.models.splice(position, 0, model);
  brand.modelBySlug.set(model.slug, model);
  return model;
}

export function createSize(world: World, model: Model, cell: GridCell, lastModifiedAt?: string): Size {
  const id = world.sizes.length;
  const random = new Random(world.seed, streams.size, id);
  const size: Size = {
    id,
    model,
    cell,
    label: sizeLabel(cell, model.brand.system),
    braCount: Math.floor(model.brand.popularity * paretoQuantile(random.next(), brasPerSizeTail)) - 1,
    pictureVersion: 1,
    lastModifiedAt: lastModifiedAt ?? firstDaysDate(random),
    isGone: false,
  };
  world.sizes.push(size);
  model.sizes.push(size);
  model.sizeByLabel.set(size.label, size);
  addBras(model, size.braCount);
  return size;
}

/** Adds to the bra counts of a model and its brand; negative counts subtract. */
export function addBras(model: Model, count: number): void {
  model.braCount += count;
  model.brand.braCount += count;
}
