/**
 * Reading a backup from its first byte to its last. In: bytes that anybody may have made. Out: its manifest, its root hash,
 * and everything that is wrong with it; each entry is shown to whoever wants it on the way, before it is known that the rest
 * is sound.
 */
import { hash } from "node:crypto";
import { migrations } from "../../../schema/migrations.ts";
import { parseRows } from "../contents/bookkeeping.ts";
import {
  bodyEntry,
  bodyOf,
  bookkeepingOf,
  catalogueBodyEntry,
  catalogueBodyOf,
  catalogueIndexEntry,
  checksumsEntry,
  isBefore,
  isEntryName,
  manifestEntry,
  pictureEntry,
  pictureOf,
  requiredEntries,
} from "../contents/entry-names.ts";
import {
  type BackupManifest,
  backupFormatVersion,
  firstWithEndings,
  readManifest,
} from "../contents/manifest.ts";
import { BackupError } from "../errors.ts";
import { compareChecksums } from "./checksums.ts";
import { byteReader, type ReadEntry, readEntries, ZipError } from "./zip-reader.ts";

export interface BackupProblem {
  /** Its name as far as it has one of ours; null where it is about the file as a whole. */
  readonly entry: string | null;
  readonly what: string;
}

export interface Scan {
  /** Null where none can be read. */
  readonly manifest: BackupManifest | null;
  /** In hex; null where the sums cannot be read. */
  readonly rootHash: string | null;
  readonly entries: number;
  /** None: every byte is what was written, unless somebody wrote another backup. */
  readonly problems: readonly BackupProblem[];
}

export type VisitEntry = (entry: ReadEntry, manifest: BackupManifest) => void;

/** Past so many problems, more of them say nothing new. */
const maxProblems = 100;

/** @throws BackupError `newer`; what the chunks or `visit` throw */
export async function scanBackup(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  visit: VisitEntry = () => {},
): Promise<Scan> {
  const problems: BackupProblem[] = [];
  const report = (entry: string | null, what: string) => {
    if (problems.length < maxProblems) problems.push({ entry, what });
  };
  const sums = new Map<string, string>();
  /** The entries that bookkeeping names: what revisions have, what pictures are, and what the bras are. */
  const named = new Set<string>();
  let manifest: BackupManifest | null = null;
  let rootHash: string | null = null;
  let last: string | null = null;
  try {
    for await (const entry of readEntries(byteReader(chunks))) {
      const { name, content } = entry;
      if (!isEntryName(name)) throw new ZipError(showName(name), "no entry of a backup has this name");
      if (last !== null && !isBefore(last, name))
        throw new ZipError(
          name,
          last === name ? "is there twice" : `is out of order: it comes after ${last}`,
        );
      if (last === null && name !== manifestEntry)
        throw new ZipError(name, `comes first, where ${manifestEntry} should`);
      last = name;
      if (!entry.hasItsCrc) report(name, "its content is damaged");
      if (name === manifestEntry) {
        manifest = entry.hasItsCrc ? readManifestOrReport(content) : null;
        if (manifest === null) break;
      }
      const sha256 = hash("sha256", content);
      if (name === checksumsEntry) {
        rootHash = sha256;
        for (const problem of compareChecksums(content.toString("latin1"), sums, checksumsEntry))
          report(problem.entry, problem.what);
      } else sums.set(name, sha256);
      const called = namedByHash(name);
      if (called !== null && called !== sha256) report(name, "does not have the SHA-256 that is its name");
      if (bookkeepingOf(name) !== null || name === catalogueIndexEntry) readRows(name, content);
      if (problems.length === 0 && manifest !== null) visit(entry, manifest);
    }
    requireAll();
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    report(error.entry, error.message);
  }
  return { manifest, rootHash, entries: sums.size, problems };

  function readManifestOrReport(content: Buffer): BackupManifest | null {
    const read = readManifest(content.toString());
    if ("newer" in read) throw newer(`format ${read.newer}, and this program knows ${backupFormatVersion}`);
    if ("problem" in read) {
      report(manifestEntry, read.problem);
      return null;
    }
    const { schema } = read.manifest;
    if (!Object.hasOwn(migrations, schema))
      throw newer(`${schema}, and this program knows ${Object.keys(migrations).at(-1)}`);
    return read.manifest;
  }

  function readRows(name: string, content: Buffer): void {
    const refuse = (line: number) => report(name, `its line ${line} is no row`);
    const hasEndings = manifest !== null && manifest.formatVersion >= firstWithEndings;
    const entryOf = (sha256: string, type: unknown): string => {
      if (name === catalogueIndexEntry) return catalogueBodyEntry(sha256);
      if (bookkeepingOf(name) !== "media_file") return bodyEntry(sha256);
      return pictureEntry(sha256, hasEndings ? type : null);
    };
    const types = new Map<string, unknown>();
    for (const { sha256, type = null } of parseRows(content, refuse)) {
      if (typeof sha256 !== "string") continue;
      // The same picture may have been taken for something else by another version: the least counts, as when it was written.
      const known = types.get(sha256);
      types.set(sha256, isLess(known, type) ? known : type);
    }
    for (const [sha256, type] of types) named.add(entryOf(sha256, type));
  }

  /** Sums that were made anew after something was taken away would still fit the rest. */
  function requireAll(): void {
    if (manifest === null || problems.length > 0) return;
    const holdsCatalogue = manifest.catalogue?.coverage.some(({ held }) => held > 0) ?? false;
    const required = [...requiredEntries, ...(holdsCatalogue ? [catalogueIndexEntry] : []), ...named];
    const missing = required.find((name) => name !== checksumsEntry && !sums.has(name));
    if (missing !== undefined) report(missing, "is missing");
    if (rootHash === null) report(checksumsEntry, "is missing");
    const stranger = [...sums.keys()].find((name) => namedByHash(name) !== null && !named.has(name));
    if (stranger !== undefined)
      report(stranger, `belongs to no ${bodyOf(stranger) === null ? "address" : "revision"}`);
  }
}

const isLess = (one: unknown, other: unknown): boolean =>
  typeof one === "string" && typeof other === "string" && one < other;

/** The SHA-256 that an entry has for a name; null for one with another name. */
const namedByHash = (name: string) => bodyOf(name) ?? catalogueBodyOf(name) ?? pictureOf(name);

/** Whatever a hostile file calls its entries: nothing that a terminal or a log would do something with. */
const showName = (name: string) =>
  JSON.stringify(name.slice(0, 80)).replace(
    /[^\x20-\x7e]/g,
    (letter) => `\\x${letter.charCodeAt(0).toString(16)}`,
  );

function newer(what: string): BackupError {
  return new BackupError(
    "newer",
    `The backup is of a later version (${what})`,
    "Install a newer Armoire. The file was not touched.",
  );
}
