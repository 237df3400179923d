/** The models of a brand, page by page (section 2.9). */
import type { Kind } from "../../schema/kind.ts";
import { namedSummary } from "../../schema/summaries.ts";

export const models: Kind = {
  name: "models",
  rel: "collection",
  areas: ["catalogue"],
  children: {},
  references: { brand: "brand" },
  optional: {},
  items: { kind: "model", summary: namedSummary, owned: true },
};
