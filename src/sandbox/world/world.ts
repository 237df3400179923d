/** The sandbox's catalogue: brands, their models, the models' sizes. It knows nothing of URLs, envelopes or HTTP. */
import type { GridCell, SizingSystem } from "./sizing.ts";

export interface Brand {
  readonly id: number;
  readonly slug: string;
  readonly system: SizingSystem;
  /** In listed order, which is arbitrary. */
  readonly models: Model[];
  readonly modelBySlug: Map<string, Model>;
  /** Factor for the numbers of owners of its models; at least 1. */
  readonly popularity: number;
  name: string;
  twitter: string | null;
  facebook: string | null;
  logoVersion: number;
  /** The sum over its models. */
  braCount: number;
  /** As the service writes times. */
  lastModifiedAt: string;
  /** A removed entity keeps its place in lists, so it can return there; slugs and labels are never reused. */
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
  /** As the service writes times. */
  lastModifiedAt: string;
  isGone: boolean;
}

export interface Size {
  readonly id: number;
  readonly model: Model;
  readonly cell: GridCell;
  readonly label: string;
  /** How many bras of it users own. */
  braCount: number;
  pictureVersion: number;
  /** As the service writes times. */
  lastModifiedAt: string;
  isGone: boolean;
}

export interface World {
  readonly seed: number;
  /** By id; removed entities keep their place. */
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

/** An entity is live while it and all entities that contain it are. */
export function isLive(entity: Brand | Model | Size): boolean {
  if (entity.isGone) return false;
  if (isSize(entity)) return isLive(entity.model);
  return isModel(entity) ? isLive(entity.brand) : true;
}

/** In the service's order: by number of bras, descending. */
export function listBrands(world: World): readonly Brand[] {
  return world.brands.filter(isLive).sort((one, other) => other.braCount - one.braCount || one.id - other.id);
}
