/**
 * A state: what a mirror or an export says of every resource at one point, as sorted sequences. In: public tables in the
 * order of their keys. Out: for each kind its items in the order of `href`, with their lists as fields. It must not know
 * where the tables come from.
 */

import { readDataPackage } from "../../exports/read-data-package.ts";
import type { Cell } from "../../schema/fields.ts";
import { toMirrorError } from "../mirror/file/errors.ts";
import { createAsOfViews } from "../mirror/past/as-of.ts";
import { publicTables } from "../mirror/public-tables.ts";
import { type MirrorReader, openMirrorReader } from "../mirror/reader.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import type { Row, Value } from "./change.ts";
import type { ComparedKind, ComparedList } from "./compared-kinds.ts";

export interface StateTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Ordered by key. */
  rows(): Iterable<readonly Cell[]>;
}

export interface DiffSource {
  /** What it is a state of. */
  readonly place: SourceLocation;
  /** Of the service; null when an export does not tell. */
  readonly baseUrl: string | null;
  /** Whether numbers can be told from text: in CSV they cannot. */
  readonly isTyped: boolean;
  readonly tables: readonly StateTable[];
  /** Every brand that the source knows, also where the tables show only a part. */
  brands(): Iterable<Brand>;
  close(): void;
}

export type Brand = Readonly<Record<"href" | "slug" | "name", Cell>>;

/** The end of a run. */
export interface MirrorLocation {
  /** The file. */
  readonly mirror: string;
  /** One that has ended; 0 is before the first one, when nothing was known. */
  readonly run: number;
  /** ISO 8601; null before the first run. */
  readonly endedAt: string | null;
}

/** An export, with the run that its manifest tells. */
export interface FolderLocation {
  readonly folder: string;
  readonly run: number | null;
}

export type SourceLocation = MirrorLocation | FolderLocation;

export interface Item {
  readonly href: string;
  /** Null while it lives, and for kinds that have no tombstones. */
  readonly goneAt: Cell;
  /** One for each of the kind's fields. */
  readonly values: readonly Value[];
}

/** The items of a kind, in order. */
export function* itemsOf(state: Pick<DiffSource, "tables">, kind: ComparedKind): Generator<Item> {
  const table = kind.columns === null ? undefined : state.tables.find(({ name }) => name === kind.name);
  if (table === undefined) {
    for (const list of kind.lists)
      for (const { href, entries } of groupsOf(state, list)) yield { href, goneAt: null, values: [entries] };
    return;
  }
  const lists = openLists(state, kind);
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

/** The order of SQLite's text, which is that of code points. */
export function compareText(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return rank(a) - rank(b);
  }
  return one.length - other.length;
}

/** Surrogates stand for what comes after all that needs none. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** A whole number is the same whether it was kept as an integer or as a real number. */
export function toComparable(cell: Cell): Cell {
  return typeof cell === "number" && Number.isSafeInteger(cell) && !Object.is(cell, -0) ? BigInt(cell) : cell;
}

interface Group {
  readonly href: string;
  readonly entries: readonly Readonly<Record<string, Cell>>[];
}

/** The rows of a list's table are its owner's URL, the position, and the entry. */
function* groupsOf(
  state: Pick<DiffSource, "tables">,
  { table: name, columns }: ComparedList,
): Generator<Group> {
  const table = state.tables.find((table) => table.name === name);
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

const none: Group["entries"] = [];

/** The lists of a kind, read beside their owners; to be disposed of, also where not all is read: it keeps statements open. */
export interface OpenLists {
  close(): void;
  /** The owner's entries of each list. Owners are asked for in their order. */
  take(href: string): Group["entries"][];
}

export function openLists(state: Pick<DiffSource, "tables">, { lists }: ComparedKind): OpenLists {
  const opened = lists.map((list) => {
    const groups = groupsOf(state, list);
    return { groups, next: groups.next() };
  });
  const takeFrom = (list: (typeof opened)[number], href: string): Group["entries"] => {
    while (!list.next.done && compareText(list.next.value.href, href) < 0) list.next = list.groups.next();
    if (list.next.done || list.next.value.href !== href) return none;
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

/** The state that an export shows. */

/** @throws ExportError */
export async function openFolderSource(folder: string): Promise<DiffSource> {
  const { manifest, tables } = await readDataPackage(folder);
  const { baseUrl, run } = manifest.about;
  return {
    place: { folder, run: typeof run === "number" ? run : null },
    baseUrl: typeof baseUrl === "string" ? baseUrl : null,
    isTyped: tables.every(({ isTyped }) => isTyped),
    tables,
    *brands() {
      const table = tables.find(({ name }) => name === "brand");
      const at = (column: string) => table?.columns.indexOf(column) ?? -1;
      const [href, slug, name] = [at("href"), at("slug"), at("name")];
      for (const row of table?.rows() ?? [])
        yield { href: row[href] ?? null, slug: row[slug] ?? null, name: row[name] ?? null } satisfies Brand;
    },
    close() {},
  };
}

/** A mirror's state when a run had closed. */

/** @throws MirrorError */
export function openMirrorSource(place: MirrorLocation): DiffSource {
  return withReader(place.mirror, (mirror) => {
    const { db } = mirror;
    // One instant of the file for all that is read, while a sync may go on writing.
    db.exec("begin");
    createAsOfViews(db, place.run);
    return {
      place,
      baseUrl: mirror.identity.baseUrl,
      isTyped: true,
      tables: publicTables(mirror),
      *brands() {
        const rows = db.prepare("select href, slug, name from main.brand").raw().safeIntegers().iterate();
        for (const row of rows as Iterable<unknown[]>) {
          const [href = null, slug = null, name = null] = row.map(fromStored);
          yield { href, slug, name } satisfies Brand;
        }
      },
      close: () => mirror.close(),
    };
  });
}

/** Leaves the mirror open, unless `use` fails. */
export function withReader<Result>(file: string, use: (mirror: MirrorReader) => Result): Result {
  const mirror = openMirrorReader(file);
  try {
    return use(mirror);
  } catch (error) {
    mirror.close();
    throw toMirrorError(error, file);
  }
}
