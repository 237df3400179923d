import type { Spelling } from "../service/credentials/secret-spellings.ts";

/**
 * Which of the spellings occur in a sequence of bytes, also across its pieces; the pieces may be given as they are read.
 * @param spellings of any number of secrets; what is found is among them
 */
export function startSearch<Sought extends Spelling>(
  spellings: readonly Sought[],
): { add(piece: Buffer): void; readonly found: ReadonlySet<Sought> } {
  const found = new Set<Sought>();
  const overlap = Math.max(0, ...spellings.map(({ bytes }) => bytes.length)) - 1;
  let end = Buffer.alloc(0);
  return {
    found,
    add(piece) {
      const bytes = end.length === 0 ? piece : Buffer.concat([end, piece]);
      for (const spelling of spellings)
        if (!found.has(spelling) && bytes.includes(spelling.bytes)) found.add(spelling);
      end = Buffer.from(bytes.subarray(Math.max(0, bytes.length - overlap)));
    },
  };
}
