/**
 * The catalogue under one base URL. In: a world, addresses and a base URL. Out: URLs and the envelopes' common parts. It
 * knows nothing of requests, credentials or faults.
 */
import type { MissingScopeForm } from "../accounts/missing-scope.ts";
import type { World } from "../world/world.ts";
import type { Addresses } from "./addresses.ts";
import type { Paging, ResourceKind } from "./resource.ts";

export interface View {
  readonly world: World;
  /** Origin of the base URL, without a trailing slash. */
  readonly origin: string;
  /** The name in `<serviceName>_url` fields. */
  readonly serviceName: string;
  readonly pageSize: number;
  /** Whether lists of sizes are paginated; services usually send them whole. */
  readonly paginateSizes: boolean;
  readonly measurements: MeasurementShape;
  readonly pictures: PicturePlace;
  readonly missingScope: MissingScopeForm;
  readonly urlOf: (kind: ResourceKind, id: number, page?: number) => string;
}

/**
 * The specification does not define a user's measurements: they may be a paginated list of links to entities, a list that
 * contains them, or a single entity instead of a list.
 */
export const measurementShapes = ["linked", "inline", "entity"] as const;
export type MeasurementShape = (typeof measurementShapes)[number];

/** `elsewhere`: at a host that does not exist, since the specification does not define where pictures are. `here`: served by the sandbox. */
export const picturePlaces = ["elsewhere", "here"] as const;
export type PicturePlace = (typeof picturePlaces)[number];
/** Path prefix of pictures served by the sandbox. */
export const picturePrefix = "/pictures/";

export type ViewSettings = Omit<View, "origin" | "urlOf">;

export function createView(
  settings: ViewSettings,
  addresses: Addresses,
  paging: Paging,
  origin: string,
): View {
  return {
    ...settings,
    origin,
    urlOf: (kind, id, page = 1) => origin + addresses.pathOf(kind, id) + paging.queryOf(page),
  };
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** An envelope with its members in the order in which they are sent. */
export interface SentEnvelope {
  readonly self: string;
  readonly rel: "resource" | "entity" | "collection";
  readonly spec: string | null;
  readonly links: JsonObject;
  readonly meta: JsonObject;
  readonly body?: JsonObject;
  readonly collection?: readonly JsonObject[];
}

/** The `<serviceName>_url` field: a page of the public site. */
export function publicPage(view: View, path: string): { readonly [name: string]: string } {
  return { [`${view.serviceName}_url`]: `https://www.${siteName(view)}.example/${path}` };
}

export function pictureUrl(view: View, path: string): string {
  return view.pictures === "here"
    ? `${view.origin}${picturePrefix}${path}`
    : `https://pictures.${siteName(view)}.example/${path}`;
}

export function docsUrl(view: View, page: string): string {
  return `https://www.${siteName(view)}.example/docs/api/${page}`;
}

function siteName({ serviceName }: View): string {
  return serviceName.replaceAll("_", "-").toLowerCase();
}

export function entity(
  self: string,
  collection: string | null,
  links: JsonObject,
  body: JsonObject,
): SentEnvelope {
  return { self, rel: "entity", spec: null, links, meta: { collection }, body };
}

/** One page of a paginated collection; null after the last page. */
export function pageOf<Item>(
  view: View,
  kind: ResourceKind,
  id: number,
  page: number,
  items: readonly Item[],
  links: JsonObject,
  summary: (item: Item) => JsonObject,
): SentEnvelope | null {
  const pages = Math.max(1, Math.ceil(items.length / view.pageSize));
  if (page > pages) return null;
  const shown = items.slice((page - 1) * view.pageSize, page * view.pageSize);
  const self = view.urlOf(kind, id, page);
  const meta = {
    page_total: shown.length,
    paginated: true,
    next: page < pages ? view.urlOf(kind, id, page + 1) : null,
    current: self,
    prev: page > 1 ? view.urlOf(kind, id, page - 1) : null,
    collection_total: items.length,
  };
  return { self, rel: "collection", spec: null, links, meta, collection: shown.map(summary) };
}

/** A collection without pages. */
export function wholeCollection<Item>(
  self: string,
  items: readonly Item[],
  links: JsonObject,
  summary: (item: Item) => JsonObject,
): SentEnvelope {
  const meta = {
    page_total: null,
    paginated: false,
    next: null,
    current: null,
    prev: null,
    collection_total: items.length,
  };
  return { self, rel: "collection", spec: null, links, meta, collection: items.map(summary) };
}
