/**
 * Marks of a token in the keychain. With them, a text is searched for the token without reading the keychain, which may have
 * to be unlocked. Each has 32 bits, far fewer than a token, so the token cannot be derived from it.
 */
import { randomInt } from "node:crypto";
import { type Credential, encodingsOf } from "../../service/credentials/credential.ts";

/** Polynomial hashes with a random base, one for each form in which the token may be given. */
export interface TokenMarks {
  readonly base: number;
  readonly forms: readonly { readonly length: number; readonly hash: number }[];
}

export function markToken(token: Credential): TokenMarks {
  // With an even base, the first bytes would not change the hash.
  const base = 2 * randomInt(2 ** 15, 2 ** 30) + 1;
  const forms = encodingsOf(token).filter(({ form }) => form !== "UTF-16");
  return {
    base,
    forms: forms.map(({ bytes }) => ({
      length: bytes.length,
      hash: bytes.reduce((hash, byte) => append(hash, base, byte), 0),
    })),
  };
}

/** True if it contains the token, and by chance once in a million texts. */
export function mayContainToken({ base, forms }: TokenMarks, text: Buffer): boolean {
  return forms.some(({ length, hash: wanted }) => {
    let highest = 1;
    for (let n = 0; n < length; n++) highest = Math.imul(highest, base);
    let hash = 0;
    for (let n = 0; n < text.length; n++) {
      hash = append(hash, base, text[n] ?? 0);
      const before = text[n - length];
      if (before !== undefined) hash = (hash - Math.imul(before, highest)) | 0;
      if (n >= length - 1 && hash === wanted) return true;
    }
    return false;
  });
}

function append(hash: number, base: number, byte: number): number {
  return (Math.imul(hash, base) + byte) | 0;
}
