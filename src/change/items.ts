/**
 * A state as sorted items. In: tables in the order of their keys. Out: for each kind its items in the order of `href`, with
 * their lists as fields; and the items of two states in pairs. Tables are read once, row by row.
 */
import type { Cell } from "../../schema/fields.ts";
import { compareText } from "../platform/text/compare-text.ts";
import type { Row, Value } from "./change.ts";
import type { ComparedKind, ComparedList } from "./compared-kinds.ts";

export interface StateTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Ordered by key. */
  rows(): Iterable<readonly Cell[]>;
}

export interface Item {
  readonly href: string;
  /** Null for a resource that is not gone, and for kinds without tombstones. */
  readonly goneAt: Cell;
  /** One for each of the kind's fields. */
  readonly values: readonly Value[];
}

/** The item before and after. Never null on both sides. */
export type Pair = readonly [before: Item | null, after: Item | null];

/**
 * The items of a kind in two states, in order. Equal parts may be absent: a whole item, or a value, which is then null on
 * both sides.
 * @param needed fields whose values are always given
 */
export type Pairing = (kind: ComparedKind, needed: readonly string[]) => Iterable<Pair>;

type Tables = readonly StateTable[];

/** Merges the sorted items of two states: those with the same URL become one pair. */
export function* pairsOf(a: Tables, b: Tables, kind: ComparedKind): Generator<Pair> {
  const befores: Iterator<Item> = itemsOf(a, kind);
  const afters: Iterator<Item> = itemsOf(b, kind);
  try {
    let before = befores.next();
    let after = afters.next();
    while (!before.done || !after.done) {
      const order = before.done ? 1 : after.done ? -1 : compareText(before.value.href, after.value.href);
      yield [order <= 0 ? before.value : null, order >= 0 ? after.value : null];
      if (order <= 0) before = befores.next();
      if (order >= 0) after = afters.next();
    }
  } finally {
    befores.return?.();
    afters.return?.();
  }
}

/** The items of a kind, in order. */
export function* itemsOf(tables: Tables, kind: ComparedKind): Generator<Item> {
  const table = kind.columns === null ? undefined : tables.find(({ name }) => name === kind.name);
  if (table === undefined) {
    for (const list of kind.lists)
      for (const { href, entries } of groupsOf(tables, list)) yield { href, goneAt: null, values: [entries] };
    return;
  }
  const lists = openLists(tables, kind);
  try {
    const hrefAt = table.columns.indexOf("href");
    const goneAt = table.columns.indexOf("gone_at");
    const fieldsAt = (kind.columns ?? []).map((column) => table.columns.indexOf(column));
    for (const row of table.rows()) {
      const href = String(row[hrefAt]);
      const values = fieldsAt.map((at): Value => toComparable(row[at] ?? null));
      values.push(...lists.take(href));
      yield { href, goneAt: row[goneAt] ?? null, values };
    }
  } finally {
    lists.close();
  }
}

export function toRow({ fields, hasTombstones }: ComparedKind, { href, goneAt, values }: Item): Row {
  const row: Record<string, Value> = { href };
  fields.forEach((field, n) => {
    row[field] = values[n] ?? null;
  });
  if (hasTombstones) row.gone_at = goneAt;
  return row;
}

type Entries = readonly Readonly<Record<string, Cell>>[];

/** Lists that are read beside their owners. Close them: they hold open statements. */
export interface OpenLists {
  /** The owner's entries in each list. Owners must come in their order. */
  take(href: string): Entries[];
  close(): void;
}

const noEntries: Entries = [];

export function openLists(tables: Tables, { lists }: ComparedKind): OpenLists {
  const opened = lists.map((list) => {
    const groups = groupsOf(tables, list);
    return { groups, next: groups.next() };
  });
  const takeFrom = (list: (typeof opened)[number], href: string): Entries => {
    while (!list.next.done && compareText(list.next.value.href, href) < 0) list.next = list.groups.next();
    if (list.next.done || list.next.value.href !== href) return noEntries;
    const { entries } = list.next.value;
    list.next = list.groups.next();
    return entries;
  };
  return {
    take: (href) => opened.map((list) => takeFrom(list, href)),
    close() {
      for (const { groups } of opened) groups.return(undefined);
    },
  };
}

/** Groups a list's rows by owner. Each row is the owner's URL, the position, and the entry. */
function* groupsOf(
  tables: Tables,
  { table: name, columns }: ComparedList,
): Generator<{ readonly href: string; readonly entries: Entries }> {
  const table = tables.find((table) => table.name === name);
  const columnsAt = columns.map((column) => [column, table?.columns.indexOf(column) ?? -1] as const);
  let href: string | null = null;
  let entries: Record<string, Cell>[] = [];
  for (const row of table?.rows() ?? []) {
    const owner = String(row[0]);
    if (href !== null && owner !== href) {
      yield { href, entries };
      entries = [];
    }
    href = owner;
    const entry: Record<string, Cell> = {};
    for (const [column, at] of columnsAt) entry[column] = toComparable(row[at] ?? null);
    entries.push(entry);
  }
  if (href !== null) yield { href, entries };
}

/** A whole number is the same whether it was stored as an integer or as a real number. */
export function toComparable(cell: Cell): Cell {
  return typeof cell === "number" && Number.isSafeInteger(cell) && !Object.is(cell, -0) ? BigInt(cell) : cell;
}
