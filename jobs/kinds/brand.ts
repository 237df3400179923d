/** A brand (section 2.8). */
import { brand as entity } from "../../schema/entities/brand.ts";
import type { Kind } from "../../schema/kind.ts";
import { entityProjector } from "../../schema/projection.ts";

export const brand: Kind = {
  name: "brand",
  rel: "entity",
  areas: ["catalogue"],
  children: { models: "models" },
  references: {},
  optional: { related: "related_brands" },
  project: entityProjector(entity),
};
