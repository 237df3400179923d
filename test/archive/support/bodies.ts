/** Reads the blocks of an unpacked archive as a reader without Armoire would. */

/** The bodies of a folder with one block, by SHA-256. @param text reads a file of the unpacked archive */
export function bodiesBySha256(text: (name: string) => string, folder: string): Map<string, string> {
  const block = Buffer.from(text(`${folder}/00001.json`));
  const lines = text(`${folder}/00001-index.ndjson`).trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const { sha256, offset, length } = JSON.parse(line);
      return [sha256, block.subarray(offset, offset + length).toString()];
    }),
  );
}
