/**
 * The type of a kind: what a resource of that kind is expected to be and where it leads. The kinds themselves are in
 * `jobs/kinds.ts`; the mirror is handed their table, so that it can derive rows and links without knowing the walk.
 */
import type { Envelope, Rel } from "./envelope.ts";
import type { Projection } from "./rows-from-body.ts";
import type { Summary } from "./summaries.ts";

/** How far a sync goes; each depth includes that kind's entities. */
export const depths = ["brands", "models", "sizes"] as const;
export type Depth = (typeof depths)[number];

/** The two areas of the service: a mirror holds one of them, and notes what it sees of the other as `elsewhere`. */
export type Area = "catalogue" | "account";

export interface Kind {
  readonly name: string;
  /** Null where the specification leaves it open. */
  readonly rel: Rel | null;
  /** The areas whose mirrors fetch it. */
  readonly areas: readonly Area[];
  /** The kind that each link leads to, where what it leads to belongs to this resource. */
  readonly children: Readonly<Record<string, string>>;
  /** The kind that each link leads to, where it is the parent or another thing that the walk meets anyway. */
  readonly references: Readonly<Record<string, string>>;
  /** The kind that each link leads to that is noted, and made a resource only where `--follow` names it. */
  readonly optional: Readonly<Record<string, string>>;
  /** A collection's items: their kind, what the collection says of each, and whether they belong to it. */
  readonly items?: { readonly kind: string; readonly summary: Summary; readonly owned: boolean };
  /** The rows that a body of this kind becomes. */
  readonly project?: (envelope: Envelope, serviceName: string) => Projection;
}

/** The kinds by name. */
export type Kinds = Readonly<Record<string, Kind>>;

/** The kind of a link that no known kind explains: noted like an optional one. */
export const unknownKind = (linkName: string): string => `?${linkName}`;

export const isUnknownKind = (kind: string): boolean => kind.startsWith("?");

/** The kind of the items of a collection whose kind is itself unknown. */
export const unknownItemKind = (collectionKind: string): string => `${collectionKind}.item`;
