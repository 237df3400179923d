/** The user that a token belongs to (section 2.3); a null link is a scope that was not granted. */
import { user as entity } from "../../schema/entities/user.ts";
import type { Kind } from "../../schema/kind.ts";
import { entityProjector } from "../../schema/projection.ts";

export const me: Kind = {
  name: "me",
  rel: "entity",
  areas: ["account"],
  children: { bras: "bras", measurements: "measurements" },
  references: {},
  optional: {},
  project: entityProjector(entity),
};
