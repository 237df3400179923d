/** A user's bra (section 2.5); its links lead into the catalogue, which an account mirror does not fetch. */
import { bra as entity } from "../../schema/entities/bra.ts";
import type { Kind } from "../../schema/kind.ts";
import { entityProjector } from "../../schema/projection.ts";

export const bra: Kind = {
  name: "bra",
  rel: "entity",
  areas: ["account"],
  children: {},
  references: { brand: "brand", model: "model", size: "size" },
  optional: {},
  project: entityProjector(entity),
};
