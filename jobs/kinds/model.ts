/** A model (section 2.10). */
import { model as entity } from "../../schema/entities/model.ts";
import type { Kind } from "../../schema/kind.ts";
import { entityProjector } from "../../schema/projection.ts";

export const model: Kind = {
  name: "model",
  rel: "entity",
  areas: ["catalogue"],
  children: { sizes: "sizes" },
  references: { brand: "brand" },
  optional: { related: "related_models", same_cut: "same_cut_models" },
  project: entityProjector(entity),
};
