/**
 * Reads a backup from its first byte to its last. In: bytes from an untrusted source. Out: its manifest, its root hash,
 * and every problem. A visitor sees each entry on the way, before the rest is known to be sound.
 */
import { hash } from "node:crypto";
import { type ContentCheck, checkBackup, type VisitBody } from "../contents/check-backup.ts";
import {
  checksumsEntry,
  isBefore,
  isText,
  manifestEntry,
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

/** Sees the contents of a backup on the way, as long as no problem is known. */
export interface BackupVisitor {
  readonly entry?: (entry: ReadEntry, manifest: BackupManifest) => void;
  /** Each body of the mirror's own revisions, once. */
  readonly body?: VisitBody;
}

/** Of an entry that is read as text; those of a million resources in format 3 take a quarter. V8 has no text of half a gigabyte. */
const maxTextBytes = 2 ** 28;
const maxManifestBytes = 2 ** 20;

/** More problems than this say nothing new. */
const maxProblems = 100;

/** @throws BackupError `other-version`; what the chunks or the visitor throw */
export async function scanBackup(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  visitor: BackupVisitor = {},
): Promise<Scan> {
  const problems: BackupProblem[] = [];
  const report = (entry: string | null, message: string) => {
    if (problems.length < maxProblems) problems.push({ entry, message });
  };
  const isEmpty = () => problems.length === 0;
  const checksums = new Map<string, string>();
  let manifest: BackupManifest | null = null;
  let check = null as ContentCheck | null;
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
        check = checkBackup(manifest, { report, isEmpty }, visitor.body ?? (() => {}));
      }
      const sha256 = hash("sha256", content);
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
  return { manifest, rootHash, entries: checksums.size, problems };

  function parseManifestOrReport(content: Buffer): BackupManifest | null {
    const parsed = parseManifest(content.toString());
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
