/** How another page is asked for: `?page=2`, or a cursor that says nothing. The first page is the bare address. */
import { scramble, unscramble } from "./scramble.ts";

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
