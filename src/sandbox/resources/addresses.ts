/**
 * Translates between resources and paths. Whether a resource exists is decided by the envelopes. The plain layout is the
 * specification's; opaque paths contain no information.
 */
import { sizingSystems } from "../world/sizing.ts";
import type { World } from "../world/world.ts";
import { type ResourceKind, resourceKinds, scramble, unscramble } from "./resource.ts";

export const layouts = ["plain", "opaque"] as const;
export type Layout = (typeof layouts)[number];

export interface Place {
  readonly kind: ResourceKind;
  readonly id: number;
}

export interface Addresses {
  /** Starts and ends with a slash. */
  readonly pathOf: (kind: ResourceKind, id: number) => string;
  readonly find: (path: string) => Place | null;
}

export function createAddresses(layout: Layout, world: World): Addresses {
  return layout === "plain" ? plainAddresses(world) : opaqueAddresses(world.seed);
}

function opaqueAddresses(seed: number): Addresses {
  return {
    pathOf: (kind, id) => (kind === "root" ? "/" : `/r/${scramble(seed, resourceKinds.indexOf(kind), id)}/`),
    find(path) {
      if (path === "/") return { kind: "root", id: 0 };
      const [code, id] = unscramble(seed, /^\/r\/(\w+)\/$/.exec(path)?.[1] ?? "") ?? [];
      const kind = code === undefined ? undefined : resourceKinds[code];
      return kind === undefined || id === undefined ? null : { kind, id };
    },
  };
}

function plainAddresses(world: World): Addresses {
  const brandPath = (id: number): string => `/brands/${world.brands[id]?.slug}/`;
  const modelPath = (id: number): string => {
    const model = world.models[id];
    return `${brandPath(model?.brand.id ?? -1)}models/${model?.slug}/`;
  };
  const sizePath = (id: number): string => {
    const size = world.sizes[id];
    return `${modelPath(size?.model.id ?? -1)}sizes/${encodeURIComponent(size?.label ?? "")}/`;
  };
  const paths: Record<ResourceKind, (id: number) => string> = {
    root: () => "/",
    rate_limit: () => "/rate-limit/",
    brands: () => "/brands/",
    brand: brandPath,
    related_brands: (id) => `${brandPath(id)}related/`,
    sizings: (id) => `${brandPath(id)}sizing/`,
    sizing: (id) => `/sizings/${sizingSystems[id]?.label}/`,
    models: (id) => `${brandPath(id)}models/`,
    model: modelPath,
    related_models: (id) => `${modelPath(id)}related/`,
    same_cut: (id) => `${modelPath(id)}same-cut/`,
    sizes: (id) => `${modelPath(id)}sizes/`,
    size: sizePath,
    adjacent_sizes: (id) => `${sizePath(id)}adjacent/`,
    me: () => "/me/",
    bras: () => "/me/bras/",
    bra: (id) => `/me/bras/${id}/`,
    measurements: () => "/me/measurements/",
    measurement: (id) => `/me/measurements/${id}/`,
  };
  return { pathOf: (kind, id) => paths[kind](id), find: (path) => findPlain(world, path) };
}

/** Parses plain paths. */
function findPlain(world: World, path: string): Place | null {
  if (path === "/") return { kind: "root", id: 0 };
  const parts = path.split("/").map(decode);
  if (parts.at(0) !== "" || parts.at(-1) !== "") return null;
  const [top, name = "", ...rest] = parts.slice(1, -1);
  if (top === "brands") return name === "" ? only("brands", rest) : findInBrand(world, name, rest);
  if (top === "me") return findInAccount(name, rest);
  if (top === "rate-limit" && name === "") return only("rate_limit", rest);
  const system = sizingSystems.findIndex(({ label }) => label === name);
  return top === "sizings" && system !== -1 ? only("sizing", rest, system) : null;
}

function findInBrand(world: World, slug: string, rest: readonly string[]): Place | null {
  const brand = world.brandBySlug.get(slug);
  const [list, modelSlug, within, label, ...more] = rest;
  if (!brand) return null;
  if (modelSlug === undefined)
    return pickKind(
      brand.id,
      list,
      { models: "models", related: "related_brands", sizing: "sizings" },
      "brand",
    );
  const model = list === "models" ? brand.modelBySlug.get(modelSlug) : undefined;
  if (!model) return null;
  if (label === undefined) {
    return pickKind(
      model.id,
      within,
      { sizes: "sizes", related: "related_models", "same-cut": "same_cut" },
      "model",
    );
  }
  const size = within === "sizes" ? model.sizeByLabel.get(label) : undefined;
  return size && more.length < 2 ? pickKind(size.id, more[0], { adjacent: "adjacent_sizes" }, "size") : null;
}

function findInAccount(list: string, rest: readonly string[]): Place | null {
  const [id, ...more] = rest;
  if (id === undefined)
    return pickKind(0, list || undefined, { bras: "bras", measurements: "measurements" }, "me");
  if (!/^\d{1,9}$/.test(id) || more.length > 0) return null;
  if (list === "bras") return { kind: "bra", id: Number(id) };
  return list === "measurements" ? { kind: "measurement", id: Number(id) } : null;
}

function pickKind(
  id: number,
  word: string | undefined,
  kinds: Readonly<Record<string, ResourceKind>>,
  itself: ResourceKind,
): Place | null {
  if (word === undefined) return { kind: itself, id };
  const kind = Object.hasOwn(kinds, word) ? kinds[word] : undefined;
  return kind === undefined ? null : { kind, id };
}

function only(kind: ResourceKind, rest: readonly string[], id = 0): Place | null {
  return rest.length === 0 ? { kind, id } : null;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
