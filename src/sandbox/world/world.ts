/**
 * The catalogue as the sandbox knows it: brands, their models, the models' sizes. In: a seed and totals. Out: a world
 * that is a pure function of them and of the edits made since. It knows nothing of URLs, envelopes or HTTP.
 */
import {
  apportion,
  modelsPerBrandExponent,
  paretoQuantile,
  sizesPerModelTail,
  zipfWeights,
} from "../distributions.ts";
import { Random, streams } from "../random.ts";
import { createBrand, createModel, createSize } from "./growth.ts";
import { bandSteps, cupSteps, type GridCell, mostSizes, type SizingSystem } from "./sizing.ts";

export interface Brand {
  readonly id: number;
  readonly slug: string;
  readonly system: SizingSystem;
  /** In the order in which they are listed, which is by nothing in particular. */
  readonly models: Model[];
  readonly modelBySlug: Map<string, Model>;
  /** How many times more people own each of its models than if nobody had heard of it. */
  readonly popularity: number;
  name: string;
  twitter: string | null;
  facebook: string | null;
  logoVersion: number;
  /** The sum over its models. */
  braCount: number;
  lastModifiedAt: string;
  /** Stays in its lists all the same, so that it can come back to its place; slugs and labels are never given twice. */
  isGone: boolean;
}

export interface Model {
  readonly id: number;
  readonly brand: Brand;
  readonly slug: string;
  readonly code: string;
  readonly sizes: Size[];
  readonly sizeByLabel: Map<string, Size>;
  name: string;
  type: string;
  isDiscontinued: boolean;
  stockPictures: number;
  /** The sum over its sizes. */
  braCount: number;
  lastModifiedAt: string;
  isGone: boolean;
}

export interface Size {
  readonly id: number;
  readonly model: Model;
  readonly cell: GridCell;
  readonly label: string;
  braCount: number;
  pictureVersion: number;
  lastModifiedAt: string;
  isGone: boolean;
}

export interface World {
  readonly seed: number;
  /** By id; whatever is gone keeps its place. */
  readonly brands: Brand[];
  readonly models: Model[];
  readonly sizes: Size[];
  readonly brandBySlug: Map<string, Brand>;
  /** Steps taken since the start. */
  step: number;
}

export interface WorldTotals {
  readonly brands: number;
  readonly models: number;
  readonly sizes: number;
}

/** The smallest brand gets no models, so that there is an empty collection; no model gets more sizes than there are. */
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

/** A block of neighbouring cells, as a model's range of sizes is. */
function gridCells(wanted: number, random: Random): GridCell[] {
  const count = Math.min(wanted, mostSizes);
  const columns = Math.ceil(Math.sqrt(count));
  const rows = Math.ceil(count / Math.max(1, columns));
  const firstBand = random.integer(bandSteps - rows + 1);
  const firstCup = random.integer(cupSteps - columns + 1);
  return Array.from({ length: count }, (_, index) => ({
    bandStep: firstBand + Math.floor(index / columns),
    cupStep: firstCup + (index % columns),
  }));
}

export function isModel(entity: Brand | Model | Size): entity is Model {
  return "brand" in entity;
}

export function isSize(entity: Brand | Model | Size): entity is Size {
  return "model" in entity;
}

/** Nothing outlives what it is part of. */
export function isLive(entity: Brand | Model | Size): boolean {
  if (entity.isGone) return false;
  if (isSize(entity)) return isLive(entity.model);
  return isModel(entity) ? isLive(entity.brand) : true;
}

/** Brands with most bras first, as the service lists them. */
export function listBrands(world: World): readonly Brand[] {
  return world.brands.filter(isLive).sort((one, other) => other.braCount - one.braCount || one.id - other.id);
}
