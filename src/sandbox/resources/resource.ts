/** What can be asked for: a kind, which one of that kind, and which page of it. */
import { mixBits } from "../random.ts";

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

/** How another page is asked for: `?page=2`, or a cursor that says nothing. The first page is the bare address. */

export const paginations = ["page", "cursor"] as const;
export type Pagination = (typeof paginations)[number];

export interface Paging {
  /** The query of a page, with its question mark; empty for the first. */
  readonly queryOf: (page: number) => string;
  /** @returns null when the query names no page */
  readonly pageOf: (query: URLSearchParams) => number | null;
}

/** Keeps cursors and opaque addresses apart although both are scrambled with the seed. */
const cursorSalt = 0x5eed;

export function createPaging(pagination: Pagination, seed: number): Paging {
  if (pagination === "page") {
    return {
      queryOf: (page) => (page === 1 ? "" : `?page=${page}`),
      pageOf(query) {
        const page = query.get("page") ?? "1";
        return /^[1-9]\d{0,8}$/.test(page) ? Number(page) : null;
      },
    };
  }
  return {
    queryOf: (page) => (page === 1 ? "" : `?cursor=${scramble(seed + cursorSalt, page, cursorSalt)}`),
    pageOf(query) {
      const cursor = query.get("cursor");
      if (cursor === null) return 1;
      const [page, salt] = unscramble(seed + cursorSalt, cursor) ?? [];
      return page !== undefined && salt === cursorSalt && page > 0 ? page : null;
    },
  };
}

/**
 * Turns two 32-bit numbers into sixteen hexadecimal digits that say nothing, and back: a four-round Feistel network.
 * Opaque addresses and cursors need no table this way, even for a hundred thousand resources.
 */

const rounds = [1, 2, 3, 4] as const;

export function scramble(key: number, left: number, right: number): string {
  for (const round of rounds) [left, right] = [right, (left ^ mixBits(right, key + round)) >>> 0];
  return hex(left) + hex(right);
}

/** @returns null when the text is not sixteen hexadecimal digits */
export function unscramble(key: number, text: string): [left: number, right: number] | null {
  if (!/^[0-9a-f]{16}$/.test(text)) return null;
  let left = Number.parseInt(text.slice(0, 8), 16);
  let right = Number.parseInt(text.slice(8), 16);
  for (const round of rounds.toReversed()) [left, right] = [(right ^ mixBits(left, key + round)) >>> 0, left];
  return [left, right];
}

function hex(value: number): string {
  return value.toString(16).padStart(8, "0");
}
