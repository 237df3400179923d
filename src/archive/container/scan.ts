/**
 * Reads an archive from its first byte to its last. In: bytes from an untrusted source, and what kind of archive it must be.
 * Out: its manifest, its root hash, and every problem. A visitor sees each entry on the way, before the rest is known to be sound.
 */
import {
  checksumsEntry,
  isBefore,
  isForPeople,
  isText,
  manifestEntry,
  requireSafeEntryName,
} from "../contents/entry-names.ts";
import { type Checksums, compareChecksums } from "./checksums.ts";
import { byteReader, type ReadEntry, readEntries, ZipError } from "./zip-reader.ts";

export interface BackupProblem {
  /** The entry's name, made printable if it is none of ours; null for a problem of the whole file. */
  readonly entry: string | null;
  readonly message: string;
}

export interface Scan<Manifest> {
  /** Null if none can be read. */
  readonly manifest: Manifest | null;
  /** In hex; null if the checksums cannot be read. */
  readonly rootHash: string | null;
  /** Of all entries but the checksums themselves. */
  readonly checksums: Checksums;
  /** Empty: every byte is as written, unless the whole archive is forged. */
  readonly problems: readonly BackupProblem[];
}

/** What an archive may contain: a backup, or a snapshot. */
export interface ArchiveType<Manifest, Visitor> {
  /** @throws BackupError `other-version`, `other-contents` */
  parseManifest(text: string): { readonly manifest: Manifest } | { readonly problem: string };
  check(manifest: Manifest, problems: ProblemList, visitor: Visitor): ContentCheck;
}

/** What else an archive must be, beside complete and undamaged entries in order. */
export interface ContentCheck {
  /** Takes each entry after the manifest, in order. @throws ZipError */
  add(name: string, content: Buffer, sha256: string): Promise<void>;
  /** For an archive without problems. @param names of all its entries @throws ZipError */
  finish(names: ReadonlySet<string>): void;
  close(): void;
}

/** Where a check reports problems. */
export interface ProblemList {
  report(entry: string | null, message: string): void;
  isEmpty(): boolean;
}

/** Sees the entries of an archive on the way, as long as no problem is known. */
export interface EntryVisitor<Manifest> {
  readonly entry?: (entry: ReadEntry, manifest: Manifest) => void;
  /** Whether it reads the contents of tables, which may be large. Default: if it sees entries. */
  readonly readsTables?: boolean;
}

/** Of an entry that is read as text; those of a million resources in format 3 take a quarter. V8 has no text of half a gigabyte. */
const maxTextBytes = 2 ** 28;
const maxManifestBytes = 2 ** 20;

/** More problems than this say nothing new. */
const maxProblems = 100;

/** @throws BackupError `other-version`, `other-contents`; what the chunks or the visitor throw */
export async function scanArchive<Manifest, Visitor extends EntryVisitor<Manifest>>(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  type: ArchiveType<Manifest, Visitor>,
  visitor: Visitor,
): Promise<Scan<Manifest>> {
  const problems: BackupProblem[] = [];
  const report = (entry: string | null, message: string) => {
    if (problems.length < maxProblems) problems.push({ entry, message });
  };
  const isEmpty = () => problems.length === 0;
  const { readsTables = visitor.entry !== undefined } = visitor;
  const isRead = (name: string) => readsTables || !isForPeople(name);
  const checksums = new Map<string, string>();
  let manifest: Manifest | null = null;
  let check = null as ContentCheck | null;
  let rootHash: string | null = null;
  let previous: string | null = null;
  try {
    for await (const entry of readEntries(byteReader(chunks), isRead)) {
      const { name, content, sha256 } = entry;
      requireSafeEntryName(name);
      requireOrder(previous, name);
      previous = name;
      requireTextLength(name, content);
      if (!entry.hasItsCrc) report(name, "its content is damaged");
      if (name === manifestEntry) {
        manifest = entry.hasItsCrc ? parseManifestOrReport(content) : null;
        if (manifest === null) break;
        check = type.check(manifest, { report, isEmpty }, visitor);
      }
      if (name === checksumsEntry) {
        rootHash = sha256;
        for (const problem of compareChecksums(content.toString("latin1"), checksums, checksumsEntry))
          report(problem.entry, problem.message);
      } else checksums.set(name, sha256);
      if (entry.hasItsCrc) await check?.add(name, content, sha256);
      if (isEmpty() && manifest !== null) visitor.entry?.(entry, manifest);
    }
    if (manifest !== null && rootHash === null) report(checksumsEntry, "is missing");
    if (isEmpty()) check?.finish(new Set([...checksums.keys(), checksumsEntry]));
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    report(error.entry, error.message);
  } finally {
    check?.close();
  }
  return { manifest, rootHash, checksums, problems };

  function parseManifestOrReport(content: Buffer): Manifest | null {
    const parsed = type.parseManifest(content.toString());
    if ("manifest" in parsed) return parsed.manifest;
    report(manifestEntry, parsed.problem);
    return null;
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
  const maxBytes = name === manifestEntry ? maxManifestBytes : isText(name) ? maxTextBytes : content.length;
  if (content.length > maxBytes) throw new ZipError(name, `is larger than ${maxBytes} bytes`);
}
