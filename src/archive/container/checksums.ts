/**
 * `SHA256SUMS`: one line for each entry, ordered by name, in the format of `sha256sum`. Its own SHA-256 is the root hash. It
 * covers every byte of the content: with a root hash that was kept elsewhere, a forged backup can be told from the real one.
 */

import { createHash, type Hash, hash } from "node:crypto";
import { checksumsEntry } from "../contents/entry-names.ts";
import type { NewEntries, NewEntry } from "./zip-writer.ts";

/** SHA-256 in hex, by entry name. */
export type Checksums = ReadonlyMap<string, string>;

export function checksumsText(checksums: Checksums): string {
  return [...checksums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, sha256]) => `${sha256}  ${name}\n`)
    .join("");
}

export interface HashedEntries {
  /** Iterate once, and read each entry to its end before the next one. Ends with the checksums of all others. */
  readonly entries: AsyncIterable<NewEntry>;
  /** In hex; valid after all entries were read. */
  readonly rootHash: () => string;
}

export function withChecksums(entries: NewEntries): HashedEntries {
  let rootHash = "";
  async function* hashed(): AsyncGenerator<NewEntry> {
    const checksums = new Map<string, string>();
    for await (const entry of entries) {
      const sum = createHash("sha256");
      yield { ...entry, content: passThrough(entry.content, sum) };
      checksums.set(entry.name, sum.digest("hex"));
    }
    const content = Buffer.from(checksumsText(checksums));
    rootHash = hash("sha256", content);
    yield { name: checksumsEntry, content };
  }
  return { entries: hashed(), rootHash: () => rootHash };
}

function passThrough(content: NewEntry["content"], sum: Hash): NewEntry["content"] {
  if (!Buffer.isBuffer(content)) return hashedPieces(content, sum);
  sum.update(content);
  return content;
}

function* hashedPieces(pieces: Iterable<Buffer>, sum: Hash): Generator<Buffer> {
  for (const piece of pieces) {
    sum.update(piece);
    yield piece;
  }
}

export interface ChecksumProblem {
  readonly entry: string;
  readonly message: string;
}

/**
 * Compares the text with the checksums of the entries that were read; no problems if they are equal.
 * @param entry the name of the text's own entry
 */
export function compareChecksums(text: string, found: Checksums, entry: string): ChecksumProblem[] {
  if (text === checksumsText(found)) return [];
  const listed = new Map(
    [...text.matchAll(/^([0-9a-f]{64}) {2}([\x21-\x7e]+)$/gm)].map(([, sha256 = "", name = ""]) => [
      name,
      sha256,
    ]),
  );
  const problems = [
    ...[...listed.keys()]
      .filter((name) => !found.has(name))
      .map((name) => ({ entry: name, message: "is missing" })),
    ...[...found.keys()]
      .filter((name) => !listed.has(name))
      .map((name) => ({ entry: name, message: `was added: ${entry} does not list it` })),
    ...[...found]
      .filter(([name, sha256]) => listed.has(name) && listed.get(name) !== sha256)
      .map(([name]) => ({ entry: name, message: `does not have the SHA-256 that ${entry} lists` })),
  ];
  return problems.length > 0 ? problems : [{ entry, message: "is not written as Armoire writes it" }];
}
