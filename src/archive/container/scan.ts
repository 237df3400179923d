/**
 * Reads a backup from its first byte to its last. In: bytes from an untrusted source. Out: its manifest, its root hash,
 * and every problem. A visitor sees each entry on the way, before the rest is known to be sound.
 */
import { hash } from "node:crypto";
import {
  type BookkeepingTrial,
  type ExpectedMirror,
  openBookkeepingTrial,
} from "../../mirror/bookkeeping/restore-rows.ts";
import { type BookkeepingRow, BookkeepingRowError } from "../../mirror/bookkeeping/rows.ts";
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
  manifestEntry,
  pictureEntry,
  pictureOf,
  requiredEntries,
  requireSafeEntryName,
} from "../contents/entry-names.ts";
import { type BackupManifest, parseManifest } from "../contents/manifest.ts";
import { compareChecksums } from "./checksums.ts";
import { byteReader, type ReadEntry, readEntries, ZipError } from "./zip-reader.ts";

export interface BackupProblem {
  /** The entry's name, made printable if it is none of ours; null for a problem of the whole file. */
  readonly entry: string | null;
  readonly message: string;
}

export interface Scan {
  /** Null if none can be read. */
  readonly manifest: BackupManifest | null;
  /** In hex; null if the checksums cannot be read. */
  readonly rootHash: string | null;
  readonly entries: number;
  /** Empty: every byte is as written, unless the whole backup is forged. */
  readonly problems: readonly BackupProblem[];
}

export type VisitEntry = (entry: ReadEntry, manifest: BackupManifest) => void;

/** Of an entry that is read as text; those of a million resources take a quarter. V8 has no text of half a gigabyte. */
const maxTextBytes = 2 ** 28;
const maxManifestBytes = 2 ** 20;

/** More problems than this say nothing new. */
const maxProblems = 100;

/** @throws BackupError `other-version`; what the chunks or `visit` throw */
export async function scanBackup(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  visit: VisitEntry = () => {},
): Promise<Scan> {
  const problems: BackupProblem[] = [];
  const report = (entry: string | null, message: string) => {
    if (problems.length < maxProblems) problems.push({ entry, message });
  };
  const checksums = new Map<string, string>();
  /** The entries that bookkeeping refers to: bodies of revisions, pictures, and bodies of linked catalogue resources. */
  const referenced = new Set<string>();
  let manifest: BackupManifest | null = null;
  let trial = null as BookkeepingTrial | null;
  let rootHash: string | null = null;
  let previous: string | null = null;
  try {
    for await (const entry of readEntries(byteReader(chunks))) {
      const { name, content } = entry;
      requireSafeEntryName(name);
      requireOrder(previous, name);
      previous = name;
      requireTextLength(name, content);
      if (!entry.hasItsCrc) report(name, "its content is damaged");
      if (name === manifestEntry) {
        manifest = entry.hasItsCrc ? parseManifestOrReport(content) : null;
        if (manifest === null) break;
      }
      const sha256 = hash("sha256", content);
      if (name === checksumsEntry) {
        rootHash = sha256;
        for (const problem of compareChecksums(content.toString("latin1"), checksums, checksumsEntry))
          report(problem.entry, problem.message);
      } else checksums.set(name, sha256);
      const expected = hashInName(name);
      if (expected !== null && expected !== sha256)
        report(name, "does not have the SHA-256 that is its name");
      await readRows(name, content);
      if (problems.length === 0 && manifest !== null) visit(entry, manifest);
    }
    requireComplete();
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    report(error.entry, error.message);
  } finally {
    trial?.close();
  }
  return { manifest, rootHash, entries: checksums.size, problems };

  function parseManifestOrReport(content: Buffer): BackupManifest | null {
    const parsed = parseManifest(content.toString());
    if ("manifest" in parsed) return parsed.manifest;
    report(manifestEntry, parsed.problem);
    return null;
  }

  async function readRows(name: string, content: Buffer): Promise<void> {
    const table = bookkeepingOf(name);
    if (table === null && name !== catalogueIndexEntry) return;
    const rows = withReferences(
      name,
      parseRows(content, (line) => report(name, `its line ${line} is no row`)),
    );
    // Rows of a backup that is damaged anyway are only counted.
    if (table === null || manifest === null || problems.length > 0) for (const _row of rows);
    else {
      trial ??= await openBookkeepingTrial(mirrorOf(manifest));
      const { putRows } = trial;
      tryRows(name, () => putRows(table, rows));
    }
  }

  function tryRows(entry: string | null, attempt: () => void): void {
    try {
      attempt();
    } catch (error) {
      if (!(error instanceof BookkeepingRowError)) throw error;
      report(entry, error.message);
    }
  }

  /** The same rows; collects the entries that they refer to. */
  function* withReferences(name: string, rows: Iterable<BookkeepingRow>): Generator<BookkeepingRow> {
    const entryOf = (sha256: string, type: unknown): string => {
      if (name === catalogueIndexEntry) return catalogueBodyEntry(sha256);
      return bookkeepingOf(name) === "media_file" ? pictureEntry(sha256, type) : bodyEntry(sha256);
    };
    const types = new Map<string, unknown>();
    for (const row of rows) {
      yield row;
      const { sha256, type = null } = row;
      if (typeof sha256 !== "string") continue;
      // One picture may be recorded with several types. The least one counts, as in `eachPicture`.
      const known = types.get(sha256);
      types.set(sha256, isLess(known, type) ? known : type);
    }
    for (const [sha256, type] of types) referenced.add(entryOf(sha256, type));
  }

  /** Finds missing and unrelated entries: checksums that were recomputed after a removal fit the rest. */
  function requireComplete(): void {
    if (manifest === null || problems.length > 0) return;
    const holdsCatalogue = manifest.catalogue?.coverage.some(({ held }) => held > 0) ?? false;
    const required = [...requiredEntries, ...(holdsCatalogue ? [catalogueIndexEntry] : []), ...referenced];
    const missing = required.find((name) => name !== checksumsEntry && !checksums.has(name));
    if (missing !== undefined) report(missing, "is missing");
    if (rootHash === null) report(checksumsEntry, "is missing");
    const unrelated = [...checksums.keys()].find(
      (name) => hashInName(name) !== null && !referenced.has(name),
    );
    if (unrelated !== undefined)
      report(unrelated, `belongs to no ${bodyOf(unrelated) === null ? "address" : "revision"}`);
    if (problems.length === 0) tryRows(null, () => trial?.finish());
  }
}

/** @throws ZipError */
function requireOrder(previous: string | null, name: string): void {
  if (previous === null) {
    if (name !== manifestEntry) throw new ZipError(name, `comes first, where ${manifestEntry} should`);
  } else if (!isBefore(previous, name)) {
    const isTwice = previous === name;
    throw new ZipError(name, isTwice ? "is there twice" : `is out of order: it comes after ${previous}`);
  }
}

/** @throws ZipError */
function requireTextLength(name: string, content: Buffer): void {
  const isText = name === checksumsEntry || name === catalogueIndexEntry || bookkeepingOf(name) !== null;
  const maxBytes = name === manifestEntry ? maxManifestBytes : isText ? maxTextBytes : content.length;
  if (content.length > maxBytes) throw new ZipError(name, `is larger than ${maxBytes} bytes`);
}

const isLess = (a: unknown, b: unknown): boolean => typeof a === "string" && typeof b === "string" && a < b;

/** The SHA-256 that is part of an entry's name; null for other names. */
const hashInName = (name: string) => bodyOf(name) ?? catalogueBodyOf(name) ?? pictureOf(name);

function mirrorOf({ service, area, user }: BackupManifest): ExpectedMirror {
  return { identity: { baseUrl: service.baseUrl, area, serviceName: service.name }, user };
}
