/**
 * `SHA256SUMS`: a line an entry, as `sha256sum` writes and checks them, ordered by name. Its own SHA-256 is the root hash:
 * it stands for every byte of the content, and who remembers it can tell a forged backup from the real one.
 */

/** Entries' names to their SHA-256 in hex. */
export type Checksums = ReadonlyMap<string, string>;

export function checksumsText(sums: Checksums): string {
  return [...sums]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, sha256]) => `${sha256}  ${name}\n`)
    .join("");
}

export interface ChecksumProblem {
  readonly entry: string;
  readonly what: string;
}

/** What of the entries that were read is not what the text says; at least one problem unless all of it is. */
export function compareChecksums(text: string, read: Checksums, entry: string): ChecksumProblem[] {
  if (text === checksumsText(read)) return [];
  const listed = new Map(
    [...text.matchAll(/^([0-9a-f]{64}) {2}([\x21-\x7e]+)$/gm)].map(([, sha256 = "", name = ""]) => [
      name,
      sha256,
    ]),
  );
  const problems = [
    ...[...listed.keys()]
      .filter((name) => !read.has(name))
      .map((name) => ({ entry: name, what: "is missing" })),
    ...[...read.keys()]
      .filter((name) => !listed.has(name))
      .map((name) => ({ entry: name, what: `was added: ${entry} does not list it` })),
    ...[...read]
      .filter(([name, sha256]) => listed.has(name) && listed.get(name) !== sha256)
      .map(([name]) => ({ entry: name, what: `does not have the SHA-256 that ${entry} lists` })),
  ];
  return problems.length > 0 ? problems : [{ entry, what: "is not written as Armoire writes it" }];
}
