/** The service's front page: where a walk begins (section 2.2). */
import type { Kind } from "../../schema/kind.ts";

export const root: Kind = {
  name: "root",
  rel: "resource",
  areas: ["catalogue", "account"],
  children: { brands: "brands", me: "me", rate_limit: "rate_limit" },
  references: {},
  optional: {},
};
