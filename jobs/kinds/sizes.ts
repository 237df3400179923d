/** The sizes known for a model (field notes): paginated or not. */
import type { Kind } from "../../schema/kind.ts";
import { sizeSummary } from "../../schema/summaries.ts";

export const sizes: Kind = {
  name: "sizes",
  rel: "collection",
  areas: ["catalogue"],
  children: {},
  references: { model: "model" },
  optional: {},
  items: { kind: "size", summary: sizeSummary, owned: true },
};
