/** All brands, page by page, those with most bras first (section 2.7). */
import type { Kind } from "../../schema/kind.ts";
import { namedSummary } from "../../schema/summaries.ts";

export const brands: Kind = {
  name: "brands",
  rel: "collection",
  areas: ["catalogue"],
  children: {},
  references: {},
  optional: {},
  items: { kind: "brand", summary: namedSummary, owned: true },
};
