/** The names of an archive's entries and their order. There are no others: every other name is refused as unsafe. */

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

/** A large table has several parts. @param part from 1 */
export const bookkeepingEntry = (table: BookkeepingTable, part: number): string =>
  partEntry(`bookkeeping/${table}`, part);
/** A part of a long list of rows. @param part from 1 */
export const partEntry = (list: string, part: number): string => `${list}-${numberText(part)}.ndjson`;
/** @param type the picture's media type; the file gets its usual extension, or none if the type is unknown */
export const pictureEntry = (sha256: string, type: unknown): string => `media/${pictureName(sha256, type)}`;
export const tableEntry = (table: string, format: "csv" | "json"): string => `tables/${table}.${format}`;
/** Describes the CSV files in its folder. It comes after all of them, since it has their hashes. */
export const descriptorEntry = "tables/datapackage.json";
/** An account to look at in a browser. */
export const pageEntry = "page.html";
/** Of each linked brand, model and size: its URL, its kind, and the SHA-256 of its newest body. */
export const catalogueIndexEntry = "catalogue/index.ndjson";
export const catalogueTableEntry = (table: string, format: "csv" | "json"): string =>
  `catalogue/${table}.${format}`;

/** Where bodies are: of a snapshot's resources, of a mirror's revisions, and of linked catalogue resources. */
export const bodyFolders = ["resources", "revisions", "catalogue/revisions"] as const;
export type BodyFolder = (typeof bodyFolders)[number];
/** Bodies one after the other, and before them the lines that say which ones. @param block from 1 */
export const blockEntry = (folder: BodyFolder, block: number): string =>
  `${folder}/${numberText(block)}.json`;
export const blockIndexEntry = (folder: BodyFolder, block: number): string =>
  `${folder}/${numberText(block)}-index.ndjson`;

/** Five digits, so that names are in the order of their numbers. */
const numberText = (n: number) => String(n).padStart(5, "0");

const block = /^(resources|revisions|catalogue\/revisions)\/(\d{5})(-index\.ndjson|\.json)$/;
const singleBody = /^(revisions|catalogue\/revisions)\/([0-9a-f]{64})\.json$/;
const table = /^(tables|catalogue)\/[a-z][a-z_]{0,40}\.(csv|json)$/;
const bookkeeping = /^bookkeeping\/([a-z_]{1,40})(-\d{5})?\.ndjson$/;

const isBookkeepingTable = (name: string | undefined): name is BookkeepingTable =>
  bookkeepingTables.some((table) => table === name);

/** The bookkeeping table of an entry; null for other entries. */
export function bookkeepingOf(name: string): BookkeepingTable | null {
  const found = bookkeeping.exec(name)?.[1];
  return isBookkeepingTable(found) ? found : null;
}

/** The entries that every backup has, in their order. @param formatVersion before format 4, a table has one entry */
export const requiredEntries = (formatVersion: number): readonly string[] => [
  manifestEntry,
  readmeEntry,
  ...bookkeepingTables
    .filter((name) => !optionalTables.has(name))
    .map((name) => (formatVersion < 4 ? `bookkeeping/${name}.ndjson` : bookkeepingEntry(name, 1))),
  checksumsEntry,
];

/**
 * Refuses unsafe names. Entries are unpacked under their names, so absolute paths, `..`, backslashes, control characters
 * and every other name that is not in this file are refused.
 * @throws ZipError
 */
export function requireSafeEntryName(name: string): void {
  const isKnown =
    [manifestEntry, readmeEntry, checksumsEntry, catalogueIndexEntry, descriptorEntry, pageEntry].includes(
      name,
    ) ||
    bookkeepingOf(name) !== null ||
    pictureOf(name) !== null ||
    [block, singleBody, table].some((form) => form.test(name));
  if (!isKnown) throw new ZipError(printable(name), "no entry of an archive has this name");
}

/** A refused name for a terminal or a log: without control characters, and cut. */
const printable = (name: string) =>
  JSON.stringify(name.slice(0, 80)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16)}`,
  );

/** A body that is an entry of its own, as in format 3; null for other entries. */
export function singleBodyOf(name: string): { readonly folder: BodyFolder; readonly sha256: string } | null {
  const [, folder, sha256] = singleBody.exec(name) ?? [];
  const known = bodyFolders.find((one) => one === folder);
  return known === undefined || sha256 === undefined ? null : { folder: known, sha256 };
}

/** A block or its index; null for other entries. */
export function blockOf(name: string): { readonly folder: BodyFolder; readonly isIndex: boolean } | null {
  const [, folder, , ending] = block.exec(name) ?? [];
  const known = bodyFolders.find((one) => one === folder);
  return known === undefined ? null : { folder: known, isIndex: ending !== ".json" };
}

/** Whether an entry is for people, and nothing is computed from it: a table, its description, or a page. */
export const isForPeople = (name: string): boolean =>
  table.test(name) || name === descriptorEntry || name === pageEntry;

/** Whether an entry is read as text, as a whole. */
export const isText = (name: string): boolean =>
  name === manifestEntry ||
  name === checksumsEntry ||
  name === catalogueIndexEntry ||
  bookkeepingOf(name) !== null ||
  blockOf(name)?.isIndex === true;

/** The SHA-256 in the name of a picture; null for other entries. */
export const pictureOf = (name: string): string | null =>
  name.startsWith("media/") ? sha256OfPictureName(name.slice("media/".length)) : null;

/** The media type of a picture, by the ending of its name; empty without one. */
export const pictureTypeOf = (name: string): string =>
  pictureTypes.find((type) => name.endsWith(pictureEndings[type])) ?? "";

/**
 * Whether entry `a` comes before `b`: the manifest is first, the description of tables and the checksums are last, all others are
 * ordered by name.
 */
export function isBefore(a: string, b: string): boolean {
  const [rankOfA, rankOfB] = [rankOf(a), rankOf(b)];
  return rankOfA === rankOfB ? a < b : rankOfA < rankOfB;
}

const ranks: Readonly<Record<string, number>> = {
  [manifestEntry]: 0,
  [descriptorEntry]: 2,
  [checksumsEntry]: 3,
};
const rankOf = (name: string) => ranks[name] ?? 1;
