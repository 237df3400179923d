/** The pages of a collection. A cursor holds the place of the last entry before its page. */
import type { Options } from "./options.ts";

export interface Ordered {
  readonly id: number;
  readonly name: string;
  readonly changedAt: number;
}

/** A cursor that is undefined stands for the first page, null for no page. */
export interface Page<T> {
  readonly entries: readonly T[];
  readonly pages: number;
  readonly next: string | null;
  readonly prev: string | null | undefined;
}

/** The order of all collections, by the options. */
export function compareItems(a: Ordered, b: Ordered, { order }: Options): number {
  const byOption = order === "recent" ? b.changedAt - a.changedAt : a.name < b.name ? -1 : +(a.name > b.name);
  return byOption || a.id - b.id;
}

/** Undefined when the cursor is none of this service's, or no longer valid. */
export function cutPage<T extends Ordered>(
  items: readonly T[],
  cursor: string | undefined,
  options: Options,
): Page<T> | undefined {
  const { pageSize, emptyLastPage } = options;
  const sorted = items.toSorted((a, b) => compareItems(a, b, options));
  const place = cursor === undefined ? null : readCursor(cursor, options);
  if (place === undefined) return undefined;
  const start = place === null ? 0 : sorted.filter((item) => compareItems(item, place, options) <= 0).length;
  const entries = sorted.slice(start, start + pageSize);
  const last = entries.at(-1);
  const isMore = emptyLastPage ? entries.length === pageSize : start + pageSize < sorted.length;
  const beforePrevious = sorted[start - pageSize - 1];
  return {
    entries,
    pages: Math.max(1, Math.ceil(sorted.length / pageSize)),
    next: isMore && last !== undefined ? writeCursor(last, options) : null,
    prev: start === 0 ? null : beforePrevious && writeCursor(beforePrevious, options),
  };
}

function windowNow({ cursorWindowMs, now }: Options): number | null {
  return cursorWindowMs === null ? null : Math.floor(now() / cursorWindowMs);
}

/** Base64 with `+`, `/` and `=`, which a query may hold as they are. */
function writeCursor({ id, name, changedAt }: Ordered, options: Options): string {
  return Buffer.from(JSON.stringify([id, changedAt, name, windowNow(options)])).toString("base64");
}

function readCursor(cursor: string, options: Options): Ordered | undefined {
  try {
    const [id, changedAt, name, window] = JSON.parse(Buffer.from(cursor, "base64").toString()) as [
      ...[number, number, string, number | null],
    ];
    return window === windowNow(options) ? { id, changedAt, name } : undefined;
  } catch {
    return undefined;
  }
}
