/** The names of a backup's entries and their order. There are no others: every other name is refused as unsafe. */

import {
  pictureEndings,
  pictureName,
  pictureTypes,
  sha256OfPictureName,
} from "../../../schema/entities/picture-types.ts";
import { type BookkeepingTable, bookkeepingTables, optionalTables } from "../../mirror/bookkeeping/rows.ts";
import { ZipError } from "../container/zip-reader.ts";

/** The first entry, in every version of the format. */
export const manifestEntry = "manifest.json";
export const readmeEntry = "README.txt";
/** The last entry: the SHA-256 of all others. */
export const checksumsEntry = "SHA256SUMS";

export const bookkeepingEntry = (table: BookkeepingTable): string => `bookkeeping/${table}.ndjson`;
/** @param type the picture's media type; the file gets its usual extension, or none if the type is unknown */
export const pictureEntry = (sha256: string, type: unknown): string => `media/${pictureName(sha256, type)}`;
export const bodyEntry = (sha256: string): string => `revisions/${sha256}.json`;
export const tableEntry = (table: string, format: "csv" | "json"): string => `tables/${table}.${format}`;
/** Of each linked brand, model and size: its URL, its kind, and the SHA-256 of its newest body. */
export const catalogueIndexEntry = "catalogue/index.ndjson";
export const catalogueBodyEntry = (sha256: string): string => `catalogue/revisions/${sha256}.json`;
export const catalogueTableEntry = (table: string, format: "csv" | "json"): string =>
  `catalogue/${table}.${format}`;

const body = /^revisions\/([0-9a-f]{64})\.json$/;
const catalogueBody = /^catalogue\/revisions\/([0-9a-f]{64})\.json$/;
const catalogueTable = /^catalogue\/[a-z][a-z_]{0,40}\.(csv|json)$/;
const table = /^tables\/[a-z][a-z_]{0,40}\.(csv|json)$/;
const nameForms = [body, table, catalogueBody, catalogueTable];
const bookkeeping = new Map(bookkeepingTables.map((name) => [bookkeepingEntry(name), name]));

/** The entries that every backup has, in their order. */
export const requiredEntries: readonly string[] = [
  manifestEntry,
  readmeEntry,
  ...[...bookkeeping].flatMap(([entry, name]) => (optionalTables.has(name) ? [] : [entry])),
  checksumsEntry,
];

/**
 * Refuses unsafe names. Entries are unpacked under their names, so absolute paths, `..`, backslashes, control characters
 * and every other name that is not in this file are refused.
 * @throws ZipError
 */
export function requireSafeEntryName(name: string): void {
  const isKnown =
    requiredEntries.includes(name) ||
    name === catalogueIndexEntry ||
    bookkeeping.has(name) ||
    pictureOf(name) !== null ||
    nameForms.some((form) => form.test(name));
  if (!isKnown) throw new ZipError(printable(name), "no entry of a backup has this name");
}

/** A refused name for a terminal or a log: without control characters, and cut. */
const printable = (name: string) =>
  JSON.stringify(name.slice(0, 80)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16)}`,
  );

/** The SHA-256 in the name of a revision's body; null for other entries. */
export const bodyOf = (name: string): string | null => body.exec(name)?.[1] ?? null;

/** The SHA-256 in the name of a catalogue body; null for other entries. */
export const catalogueBodyOf = (name: string): string | null => catalogueBody.exec(name)?.[1] ?? null;

/** The SHA-256 in the name of a picture; null for other entries. */
export const pictureOf = (name: string): string | null =>
  name.startsWith("media/") ? sha256OfPictureName(name.slice("media/".length)) : null;

/** The media type of a picture, by the ending of its name; empty without one. */
export const pictureTypeOf = (name: string): string =>
  pictureTypes.find((type) => name.endsWith(pictureEndings[type])) ?? "";

/** The bookkeeping table of an entry; null for other entries. */
export const bookkeepingOf = (name: string): BookkeepingTable | null => bookkeeping.get(name) ?? null;

/** Whether entry `a` comes before `b`: the manifest is first, the checksums are last, all others are ordered by name. */
export function isBefore(a: string, b: string): boolean {
  const [rankOfA, rankOfB] = [rankOf(a), rankOf(b)];
  return rankOfA === rankOfB ? a < b : rankOfA < rankOfB;
}

const rankOf = (name: string) => (name === manifestEntry ? 0 : name === checksumsEntry ? 2 : 1);
