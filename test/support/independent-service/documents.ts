/** The documents of the service: envelopes of section 2, made from the data for one viewer. */
import type { Address, Addresses, DocumentName } from "./addresses.ts";
import * as bodies from "./bodies.ts";
import type { Brand, Data, Model, User } from "./data.ts";
import type { Options } from "./options.ts";
import { compareItems, cutPage, type Ordered } from "./pages.ts";

export interface Viewer {
  readonly user: User;
  readonly scopes: readonly string[];
}

export interface Context {
  readonly options: Options;
  readonly data: Data;
  readonly addresses: Addresses;
  readonly viewer: Viewer | undefined;
  /** The body of the allowance's entity. */
  readonly allowance: Record<string, unknown>;
}

/** `changedAt` is null where nothing says when the document changed. */
export interface Document {
  readonly envelope: Record<string, unknown>;
  readonly changedAt: number | null;
}

/** Undefined when there is no such item, or no such page. */
export function makeDocument(address: Address, context: Context): Document | undefined {
  const { data, options, addresses, viewer } = context;
  const { id, document } = address;
  const to = (name: DocumentName, of?: number) =>
    addresses.write(of === undefined ? { document: name } : { document: name, id: of });
  const entity = (
    item: { readonly changedAt: number } | undefined,
    parts: () => { body: object; links: object; collection: string | null; spec?: string | null },
  ): Document | undefined => {
    if (item === undefined) return undefined;
    const { body, links, collection, spec = null } = parts();
    const envelope = {
      body,
      meta: { collection },
      links,
      self: addresses.write(address),
      spec,
      rel: "entity",
    };
    return { envelope, changedAt: item.changedAt };
  };
  const collection = <T extends Ordered>(
    parent: unknown,
    items: readonly T[],
    write: (item: T) => object,
    { links = {}, isPaged = true, spec = null as string | null } = {},
  ): Document | undefined =>
    parent === undefined
      ? undefined
      : makeCollection(address, items, write, { links, isPaged, spec }, context);

  const shapes = bodies.makeBodies(options.serviceName, data, to);
  const brand = data.brands.find((one) => one.id === id);
  const model = data.models.find((one) => one.id === id);
  const size = data.sizes.find((one) => one.id === id);
  const ofViewer = <T extends { readonly user: number }>(items: readonly T[]) =>
    items.filter(({ user }) => user === viewer?.user.id);
  const bra = ofViewer(data.bras).find((one) => one.id === id);
  const measurement = ofViewer(data.measurements).find((one) => one.id === id);
  const isPaged = (name: Options["paged"][number]) => options.paged.includes(name);

  const makers: Record<DocumentName, () => Document | undefined> = {
    root: () => ({
      envelope: {
        meta: { welcome: "Bienvenue 👋" },
        ...{ spec: docsUrl("root"), self: to("root"), rel: "resource" },
        links: { brands: to("brands"), rate_limit: to("rate"), me: to("me") },
      },
      changedAt: null,
    }),
    me: () =>
      entity(viewer?.user, () => ({
        ...{ body: viewer === undefined ? {} : shapes.user(viewer.user, viewer.scopes) },
        ...{ links: linksOfUser(context, to), collection: null, spec: docsUrl("me") },
      })),
    bras: () => collection(viewer, ofViewer(data.bras), shapes.braSummary, { isPaged: false }),
    bra: () =>
      entity(bra, () => ({
        body: bra === undefined ? {} : shapes.bra(bra, options.unmeasured),
        links: bra === undefined ? {} : shapes.braLinks(bra),
        collection: to("bras"),
      })),
    measurements: () =>
      collection(
        viewer,
        ofViewer(data.measurements),
        options.measurements === "linked" ? shapes.measurementSummary : shapes.measurement,
        { isPaged: isPaged("measurements"), spec: docsUrl("measurements"), links: { owner: to("me") } },
      ),
    measurement: () =>
      entity(options.measurements === "linked" ? measurement : undefined, () => ({
        ...{ body: measurement === undefined ? {} : shapes.measurement(measurement), links: {} },
        ...{ collection: to("measurements"), spec: docsUrl("measurement") },
      })),
    rate: () => ({
      envelope: {
        ...{ rel: "entity", self: to("rate"), spec: null, links: {}, meta: { collection: null } },
        body: context.allowance,
      },
      changedAt: null,
    }),
    brands: () => collection(data, data.brands, shapes.brandSummary, { isPaged: isPaged("brands") }),
    brand: () =>
      entity(brand, () => ({
        body: brand === undefined ? {} : shapes.brand(brand),
        links: { models: to("models", id), related: to("relatedBrands", id) },
        collection: to("brands"),
      })),
    models: () =>
      collection(brand, modelsOf(brand, data), shapes.modelSummary, { links: { brand: to("brand", id) } }),
    model: () =>
      entity(model, () => ({
        body: model === undefined ? {} : shapes.model(model),
        links: {
          ...{ sizes: to("sizes", id), same_cut: to("sameCut", id), related: to("relatedModels", id) },
          brand: to("brand", model?.brand),
        },
        collection: to("models", model?.brand),
      })),
    sizes: () =>
      collection(
        model,
        data.sizes.filter((one) => one.model === id),
        shapes.sizeSummary,
        { isPaged: isPaged("sizes"), spec: docsUrl("sizes"), links: { model: to("model", id) } },
      ),
    size: () =>
      entity(size, () => ({
        body: size === undefined ? {} : shapes.size(size, options.sizeLabel),
        links: { model: to("model", size?.model) },
        collection: to("sizes", size?.model),
      })),
    relatedBrands: () =>
      collection(
        brand,
        data.brands.filter((one) => one !== brand && one.sizingSystem === brand?.sizingSystem),
        shapes.brandSummary,
      ),
    relatedModels: () =>
      collection(
        model,
        data.models.filter((one) => one !== model && one.brand === model?.brand),
        shapes.modelSummary,
      ),
    sameCut: () =>
      collection(
        model,
        data.models.filter((one) => one !== model && one.type === model?.type),
        shapes.modelSummary,
        { isPaged: false },
      ),
  };
  return makers[document]();
}

export function docsUrl(page: string): string {
  return `https://docs.example/lace/#${page}`;
}

function modelsOf(brand: Brand | undefined, data: Data): Model[] {
  return data.models.filter((one) => one.brand === brand?.id);
}

function linksOfUser({ options, viewer }: Context, to: (name: DocumentName) => string): object {
  const isLeftOut = (scope: string) =>
    options.refusedScope === "no-link" && viewer?.scopes.includes(scope) === false;
  return {
    ...(isLeftOut("wardrobe") ? {} : { bras: to("bras") }),
    ...(isLeftOut("tape") ? {} : { measurements: to("measurements") }),
  };
}

function makeCollection<T extends Ordered>(
  address: Address,
  items: readonly T[],
  write: (item: T) => object,
  { links, isPaged, spec }: { links: object; isPaged: boolean; spec: string | null },
  { options, addresses, data }: Context,
): Document | undefined {
  const page = isPaged
    ? cutPage(items, address.cursor, options)
    : address.cursor === undefined
      ? {
          entries: items.toSorted((a, b) => compareItems(a, b, options)),
          pages: null,
          next: null,
          prev: null,
        }
      : undefined;
  if (page === undefined) return undefined;
  const at = (cursor: string | null | undefined) => {
    if (cursor === null) return null;
    const { document, id } = address;
    return addresses.write({
      document,
      ...(id === undefined ? {} : { id }),
      ...(cursor === undefined ? {} : { cursor }),
    });
  };
  const envelope = {
    collection: page.entries.map(write),
    meta: {
      collection_total: options.collectionTotal === "page" ? page.entries.length : items.length,
      ...{ prev: at(page.prev), next: at(page.next), current: isPaged ? at(address.cursor) : null },
      page_total: page.pages !== null && options.pageTotal === "entries" ? page.entries.length : page.pages,
      paginated: isPaged,
    },
    ...{ links, spec, self: addresses.write(address), rel: "collection" },
  };
  return { envelope, changedAt: Math.max(data.removedAt, ...items.map(({ changedAt }) => changedAt)) };
}
