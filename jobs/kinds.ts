/**
 * The table of kinds: for each kind of resource what is expected of it, which links lead to which kinds, and which
 * rows its body becomes. Sections refer to the service's specification. Entities and summaries are given as functions: they take
 * a while to load, and a plan needs none.
 */
import { bra } from "../schema/entities/bra.ts";
import { brand } from "../schema/entities/brand.ts";
import { projectMeasurements } from "../schema/entities/measurement.ts";
import { model } from "../schema/entities/model.ts";
import { size } from "../schema/entities/size.ts";
import { user } from "../schema/entities/user.ts";
import type { Kind, KindName, Kinds } from "../schema/kind.ts";
import { entityProjector } from "../schema/rows-from-body.ts";
import { braSummary, namedSummary, openSummary, type Summary, sizeSummary } from "../schema/summaries.ts";

/** A kind with the defaults left out: no links, no items, no rows. */
type KindRow = Pick<Kind, "rel" | "areas"> & Partial<Kind>;

const itemsOf = (kind: string, summary: () => Summary, owned: boolean) => ({
  kind,
  owned,
  get summary() {
    return summary();
  },
});

/** A page of items that belong to others: it relates a resource to its like and owns none of them. */
const relation = (itemKind: string, summary: () => Summary): KindRow => ({
  rel: "collection",
  areas: ["catalogue"],
  references: { brand: "brand", model: "model", size: "size" },
  items: itemsOf(itemKind, summary, false),
});

const table: Readonly<Record<KindName, KindRow>> = {
  // Where a crawl begins (2.2).
  root: {
    rel: "resource",
    areas: ["catalogue", "account"],
    children: { brands: "brands", me: "me", rate_limit: "rate_limit" },
  },

  // All brands, page by page, those with most bras first (2.7).
  brands: {
    rel: "collection",
    areas: ["catalogue"],
    items: itemsOf("brand", () => namedSummary, true),
  },
  // (2.8)
  brand: {
    rel: "entity",
    areas: ["catalogue"],
    children: { models: "models" },
    optional: { related: "related_brands" },
    // (field notes)
    otherLinks: ["sizing", "main_sizing"],
    project: entityProjector(() => brand),
  },
  // The models of a brand, page by page (2.9).
  models: {
    rel: "collection",
    areas: ["catalogue"],
    references: { brand: "brand" },
    items: itemsOf("model", () => namedSummary, true),
  },
  // (2.10)
  model: {
    rel: "entity",
    areas: ["catalogue"],
    children: { sizes: "sizes" },
    references: { brand: "brand" },
    optional: { related: "related_models", same_cut: "same_cut_models" },
    project: entityProjector(() => model),
  },
  // The sizes known for a model, on one page or on several (field notes).
  sizes: {
    rel: "collection",
    areas: ["catalogue"],
    references: { model: "model" },
    items: itemsOf("size", () => sizeSummary, true),
  },
  // (field notes)
  size: {
    rel: "entity",
    areas: ["catalogue"],
    references: { model: "model" },
    optional: { adjacent_sizes: "adjacent_sizes" },
    project: entityProjector(() => size),
  },

  related_brands: relation("brand", () => namedSummary),
  related_models: relation("model", () => namedSummary),
  same_cut_models: relation("model", () => namedSummary),
  adjacent_sizes: relation("size", () => sizeSummary),

  // The user that a token belongs to (2.3). A null link is a scope that the token lacks.
  me: {
    rel: "entity",
    areas: ["account"],
    children: { bras: "bras", measurements: "measurements" },
    project: entityProjector(() => user),
  },
  // A user's bras, all on one page (2.4).
  bras: {
    rel: "collection",
    areas: ["account"],
    items: itemsOf("bra", () => braSummary, true),
  },
  // Its links lead into the catalogue, which an account mirror does not fetch (2.5).
  bra: {
    rel: "entity",
    areas: ["account"],
    references: { brand: "brand", model: "model", size: "size" },
    project: entityProjector(() => bra),
  },
  // Unspecified (2.6): a list with the measurements in it, a list of links to them, or one entity.
  measurements: {
    rel: null,
    areas: ["account"],
    items: itemsOf("measurement", () => openSummary, true),
    project: (envelope) => projectMeasurements(envelope),
  },
  // A measurement with an address of its own.
  measurement: {
    rel: "entity",
    areas: ["account"],
    project: (envelope) => projectMeasurements(envelope),
  },

  // Read by the ledger and never stored as a revision (field notes, "Allowance").
  rate_limit: { rel: "resource", areas: [] },
};

/** The kinds of resources of a service, with the links that lead to each: for functions that take `kinds`. */
export const kinds: Kinds = Object.fromEntries(
  Object.entries(table).map(([name, row]) => [
    name,
    { name, children: {}, references: {}, optional: {}, otherLinks: [], ...row },
  ]),
);
