/** A size of a model (field notes). */
import { size as entity } from "../../schema/entities/size.ts";
import type { Kind } from "../../schema/kind.ts";
import { entityProjector } from "../../schema/projection.ts";

export const size: Kind = {
  name: "size",
  rel: "entity",
  areas: ["catalogue"],
  children: {},
  references: { model: "model" },
  optional: { adjacent_sizes: "adjacent_sizes" },
  project: entityProjector(entity),
};
