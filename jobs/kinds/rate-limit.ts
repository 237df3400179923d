/** What is left of the allowance (field notes, Allowance): read by the ledger, never kept as a revision. */
import type { Kind } from "../../schema/kind.ts";

export const rateLimit: Kind = {
  name: "rate_limit",
  rel: "resource",
  areas: [],
  children: {},
  references: {},
  optional: {},
};
