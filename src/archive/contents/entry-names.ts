/** The names that entries of a backup have, and their order: there are no others. */
import { type BookkeepingTable, bookkeepingTables } from "../../mirror/bookkeeping-rows.ts";

/** The first one, so that any later program or format can be told from it. */
export const manifestEntry = "manifest.json";
export const readmeEntry = "README.txt";
/** The last one: the SHA-256 of all the others. */
export const checksumsEntry = "SHA256SUMS";

export const bookkeepingEntry = (table: BookkeepingTable): string => `bookkeeping/${table}.ndjson`;
/**
 * Of a picture, with the ending by which a person's computer opens it; what it is of says the bookkeeping.
 * @param type null for none, as in the first two versions of the format
 */
export const pictureEntry = (sha256: string, type: unknown): string => `media/${sha256}${endingOf(type)}`;
export const bodyEntry = (sha256: string): string => `revisions/${sha256}.json`;
export const tableEntry = (table: string, format: "csv" | "json"): string => `tables/${table}.${format}`;
/** What the bras are: of each brand, model and size its address, its kind, and the SHA-256 of its newest body. */
export const catalogueIndexEntry = "catalogue/index.ndjson";
export const catalogueBodyEntry = (sha256: string): string => `catalogue/revisions/${sha256}.json`;
export const catalogueTableEntry = (table: string, format: "csv" | "json"): string =>
  `catalogue/${table}.${format}`;

const endings: ReadonlyMap<unknown, string> = new Map([
  ["image/png", ".png"],
  ["image/jpeg", ".jpg"],
  ["image/gif", ".gif"],
  ["image/webp", ".webp"],
  ["image/avif", ".avif"],
]);
const endingOf = (type: unknown): string => endings.get(type) ?? "";

const picture = /^media\/([0-9a-f]{64})(?:\.(?:png|jpg|gif|webp|avif))?$/;
const body = /^revisions\/([0-9a-f]{64})\.json$/;
const catalogueBody = /^catalogue\/revisions\/([0-9a-f]{64})\.json$/;
const catalogueTable = /^catalogue\/[a-z][a-z_]{0,40}\.(csv|json)$/;
const table = /^tables\/[a-z][a-z_]{0,40}\.(csv|json)$/;
const bookkeeping = new Map(bookkeepingTables.map((name) => [bookkeepingEntry(name), name]));

/** In their order, apart from pictures, bodies, tables and what the bras are, of which there may be any number. */
export const requiredEntries: readonly string[] = [
  manifestEntry,
  readmeEntry,
  ...bookkeeping.keys(),
  checksumsEntry,
];

export function isEntryName(name: string): boolean {
  const forms = [picture, body, table, catalogueBody, catalogueTable];
  return (
    requiredEntries.includes(name) || name === catalogueIndexEntry || forms.some((form) => form.test(name))
  );
}

/** Null for what is no body. */
export const bodyOf = (name: string): string | null => body.exec(name)?.[1] ?? null;

/** Null for what is no body of the catalogue's. */
export const catalogueBodyOf = (name: string): string | null => catalogueBody.exec(name)?.[1] ?? null;

/** Null for what is no picture. */
export const pictureOf = (name: string): string | null => picture.exec(name)?.[1] ?? null;

/** Null for what is no bookkeeping. */
export const bookkeepingOf = (name: string): BookkeepingTable | null => bookkeeping.get(name) ?? null;

/** Whether one entry comes before another one: the manifest, then by name, then the sums. */
export function isBefore(one: string, other: string): boolean {
  const [a, b] = [rank(one), rank(other)];
  return a === b ? one < other : a < b;
}

const rank = (name: string) => (name === manifestEntry ? 0 : name === checksumsEntry ? 2 : 1);
