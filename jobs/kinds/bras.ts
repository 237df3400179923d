/** A user's bras, all at once (section 2.4). */
import type { Kind } from "../../schema/kind.ts";
import { braSummary } from "../../schema/summaries.ts";

export const bras: Kind = {
  name: "bras",
  rel: "collection",
  areas: ["account"],
  children: {},
  references: {},
  optional: {},
  items: { kind: "bra", summary: braSummary, owned: true },
};
