/** The collections that relate a resource to its equals: what they list belongs to others, so they own nothing. */
import type { Kind } from "../../schema/kind.ts";
import { namedSummary, type Summary, sizeSummary } from "../../schema/summaries.ts";

const relation = (name: string, itemKind: string, summary: Summary): Kind => ({
  name,
  rel: "collection",
  areas: ["catalogue"],
  children: {},
  references: { brand: "brand", model: "model", size: "size" },
  optional: {},
  items: { kind: itemKind, summary, owned: false },
});

export const relatedBrands = relation("related_brands", "brand", namedSummary);
export const relatedModels = relation("related_models", "model", namedSummary);
export const sameCutModels = relation("same_cut_models", "model", namedSummary);
export const adjacentSizes = relation("adjacent_sizes", "size", sizeSummary);
