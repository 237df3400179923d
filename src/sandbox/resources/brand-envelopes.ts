/** Brands: their list, each brand, its related brands and its sizing systems. */
import { sizingSystems } from "../world/sizing.ts";
import { type Brand, isLive, listBrands } from "../world/world.ts";
import {
  docsUrl,
  entity,
  type JsonObject,
  pageOf,
  pictureUrl,
  publicPage,
  type SentEnvelope,
  type View,
  wholeCollection,
} from "./view.ts";

const relatedBrands = 4;

export function rootEnvelope(view: View): SentEnvelope {
  return {
    self: view.urlOf("root", 0),
    rel: "resource",
    spec: docsUrl(view, "root"),
    links: {
      me: view.urlOf("me", 0),
      brands: view.urlOf("brands", 0),
      rate_limit: view.urlOf("rate_limit", 0),
    },
    meta: { welcome: "Welcome to the sandbox." },
  };
}

export function brandsEnvelope(view: View, _id: number, page: number): SentEnvelope | null {
  return pageOf(view, "brands", 0, page, listBrands(view.world), {}, (brand) => brandSummary(view, brand));
}

export function brandEnvelope(view: View, id: number): SentEnvelope | null {
  const brand = liveBrand(view, id);
  if (!brand) return null;
  const { slug, system } = brand;
  const systemUrl = view.urlOf("sizing", sizingSystems.indexOf(system));
  const links = {
    models: view.urlOf("models", id),
    related: view.urlOf("related_brands", id),
    sizing: view.urlOf("sizings", id),
    main_sizing: systemUrl,
  };
  return entity(view.urlOf("brand", id), view.urlOf("brands", 0), links, {
    ...publicPage(view, slug),
    bra_count: brand.braCount,
    name: brand.name,
    slug,
    default_sizing_system: system.label,
    default_sizing_name: system.name,
    logo: pictureUrl(view, `logos/${slug}-${brand.logoVersion}.png`),
    twitter: brand.twitter,
    facebook: brand.facebook,
    official_url: `https://${slug}.example/`,
    last_modified_at: brand.lastModifiedAt,
  });
}

/** The next live brands by number, cyclically. */
export function relatedBrandsEnvelope(view: View, id: number): SentEnvelope | null {
  if (!liveBrand(view, id)) return null;
  const { brands } = view.world;
  const others = [...brands.slice(id + 1), ...brands.slice(0, id)].filter(isLive).slice(0, relatedBrands);
  const links = { brand: view.urlOf("brand", id) };
  return wholeCollection(view.urlOf("related_brands", id), others, links, (brand) =>
    brandSummary(view, brand),
  );
}

export function sizingsEnvelope(view: View, id: number): SentEnvelope | null {
  const brand = liveBrand(view, id);
  if (!brand) return null;
  const links = { brand: view.urlOf("brand", id) };
  return wholeCollection(view.urlOf("sizings", id), sizingSystems, links, (system) => ({
    href: view.urlOf("sizing", sizingSystems.indexOf(system)),
    label: system.label,
    is_main: system === brand.system,
  }));
}

export function sizingEnvelope(view: View, id: number): SentEnvelope | null {
  const system = sizingSystems[id];
  if (!system) return null;
  return entity(
    view.urlOf("sizing", id),
    null,
    {},
    { label: system.label, name: system.name, cups: system.cups },
  );
}

function brandSummary(view: View, { id, slug, name }: Brand): JsonObject {
  return { ...publicPage(view, slug), href: view.urlOf("brand", id), name };
}

function liveBrand(view: View, id: number): Brand | null {
  const brand = view.world.brands[id];
  return brand && isLive(brand) ? brand : null;
}
