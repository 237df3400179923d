/**
 * The type of a kind: the expected envelope, rows, links and items of its resources. The table of kinds is in
 * `jobs/kinds.ts`; callers pass it to the mirror, which derives rows and links without knowing the crawl.
 */
import type { Envelope, Rel } from "./envelope.ts";
import type { Projection } from "./rows-from-body.ts";
import type { Summary } from "./summaries.ts";

/** The depths of a sync; each includes the entities of that kind. */
export const depths = ["brands", "models", "sizes"] as const;
export type Depth = (typeof depths)[number];

/** The kinds that `jobs/kinds.ts` describes. */
export const kindNames = [
  ...(["root", "brands", "brand", "models", "model", "sizes", "size"] as const),
  ...(["related_brands", "related_models", "same_cut_models", "adjacent_sizes"] as const),
  ...(["me", "bras", "bra", "measurements", "measurement", "rate_limit"] as const),
] as const;

export type KindName = (typeof kindNames)[number];

/** The areas of the service. A mirror contains one of them; resources of the other have the state `elsewhere`. */
export const areas = ["catalogue", "account"] as const;
export type Area = (typeof areas)[number];

export interface Kind {
  readonly name: string;
  /** Null if the specification does not define it. */
  readonly rel: Rel | null;
  /** The areas whose mirrors fetch it. */
  readonly areas: readonly Area[];
  /** Link name to kind, for targets that belong to this resource. */
  readonly children: Readonly<Record<string, string>>;
  /** Link name to kind, for the parent and other targets that the crawl reaches anyway. */
  readonly references: Readonly<Record<string, string>>;
  /** Link name to kind, for targets that become resources only with `--follow`. */
  readonly optional: Readonly<Record<string, string>>;
  /** Names of known links whose targets have no kind here. */
  readonly otherLinks: readonly string[];
  /** The items of a collection: their kind, their summary, and whether they belong to it. */
  readonly items?: { readonly kind: string; readonly summary: Summary; readonly owned: boolean };
  /** Turns a body into rows; absent for kinds without rows. */
  readonly project?: (envelope: Envelope, serviceName: string) => Projection;
}

/** The kinds by name. */
export type Kinds = Readonly<Record<string, Kind>>;

/** The kind of an unknown link; it is stored like an optional one. */
export const unknownKind = (linkName: string): string => `?${linkName}`;

export const isUnknownKind = (kind: string): boolean => kind.startsWith("?");

/** The kind of the items of a collection of unknown kind. */
export const unknownItemKind = (collectionKind: string): string => `${collectionKind}.item`;
