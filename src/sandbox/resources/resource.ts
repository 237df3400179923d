/** What can be asked for: a kind, which one of that kind, and which page of it. */

/** The order gives each kind its code in opaque addresses. */
export const resourceKinds = [
  "root",
  "rate_limit",
  "brands",
  "brand",
  "related_brands",
  "sizings",
  "sizing",
  "models",
  "model",
  "related_models",
  "same_cut",
  "sizes",
  "size",
  "adjacent_sizes",
  "me",
  "bras",
  "bra",
  "measurements",
  "measurement",
] as const;

export type ResourceKind = (typeof resourceKinds)[number];

export interface Resource {
  readonly kind: ResourceKind;
  /** The number of the brand, model, size, sizing system, bra or measurement that it is or belongs to; else 0. */
  readonly id: number;
  /** From 1; 1 for what has no pages. */
  readonly page: number;
}

/** The kinds that need a token, each with the scope that it needs. */
export const scopeByKind = {
  me: "identity",
  bras: "bras",
  bra: "bras",
  measurements: "measurements",
  measurement: "measurements",
} as const satisfies Partial<Record<ResourceKind, string>>;

export type AccountKind = keyof typeof scopeByKind;
export type CatalogueKind = Exclude<ResourceKind, AccountKind | "rate_limit">;

export function isAccountKind(kind: ResourceKind): kind is AccountKind {
  return Object.hasOwn(scopeByKind, kind);
}
