/** Identifies a resource by kind, id and page; encodes pages and opaque ids in URLs. */
import { mixBits } from "../random.ts";

/** Order matters: the index is the kind's code in opaque addresses. */
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
  /** Number of the brand, model, size, sizing system, bra or measurement that it is or belongs to; else 0. */
  readonly id: number;
  /** From 1; 1 for resources without pages. */
  readonly page: number;
}

/** The kinds that require a token, with the required scope. */
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

/** How pages are addressed: `?page=2`, or an opaque cursor. The first page has no query. */

export const paginations = ["page", "cursor"] as const;
export type Pagination = (typeof paginations)[number];

export interface Paging {
  /** The query of a page with its question mark; empty for the first page. */
  readonly queryOf: (page: number) => string;
  /** @returns null for an invalid query */
  readonly pageOf: (query: URLSearchParams) => number | null;
}

/** Distinguishes cursors from opaque addresses: both are scrambled with the seed. */
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
 * Turns two 32-bit numbers into 16 opaque hexadecimal digits, and back: a four-round Feistel network, so that opaque
 * addresses and cursors need no table.
 */

const rounds = [1, 2, 3, 4] as const;

export function scramble(key: number, left: number, right: number): string {
  for (const round of rounds) [left, right] = [right, (left ^ mixBits(right, key + round)) >>> 0];
  return hex(left) + hex(right);
}

/** @returns null unless the text is 16 hexadecimal digits */
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
