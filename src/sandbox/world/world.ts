/** The sandbox's catalogue: brands, their models, the models' sizes. It knows nothing of URLs, envelopes or HTTP. */
import type { GridCell, SizingSystem } from "./sizing.ts";

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
