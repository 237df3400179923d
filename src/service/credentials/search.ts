/** Searches the bytes of a response for a credential. Pure; takes time in proportion to their length. */
import { type Credential, encodingsOf } from "./credential.ts";
import { minSpecificLength } from "./secret-encodings.ts";

/**
 * @returns a function that finds the credential in each form of `SecretEncoding`, and in escapes of JSON and URLs;
 * forms shorter than eight characters may occur by chance and are not searched
 */
export function createCredentialSearch(credential: Credential): (bytes: Buffer) => boolean {
  const specific = encodingsOf(credential)
    .map(({ bytes }) => bytes)
    .filter(({ length }) => length >= minSpecificLength);
  // Bytes that contain another pattern are found by it.
  const patterns = specific.filter((bytes) =>
    specific.every((other) => other === bytes || !bytes.includes(other)),
  );
  const isFoundIn = (bytes: Buffer) => patterns.some((pattern) => bytes.includes(pattern));
  return (bytes) => isFoundIn(bytes) || (hasEscapes(bytes) && isFoundIn(withoutEscapes(bytes)));
}

const backslash = 0x5c;
const percent = 0x25;
const lowerU = 0x75;

export const hasEscapes = (bytes: Buffer): boolean => bytes.includes(backslash) || bytes.includes(percent);

/** Quotation mark, slash and backslash. */
const escapedAsThemselves: readonly (number | undefined)[] = [0x22, 0x2f, backslash];

/** ASCII characters in place of `\u0041`, `\/` and `%41`, also of one within another. */
export function withoutEscapes(bytes: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  /** How many bytes after a percent sign may belong to it. */
  let pending = 0;
  let nextBackslash = -1;
  let nextPercent = -1;
  const positionOf = (byte: number, from: number) => {
    const found = bytes.indexOf(byte, from);
    return found === -1 ? bytes.length : found;
  };
  for (let index = 0; index < bytes.length; index++) {
    if (pending === 0) {
      // Most bytes are copied as they are, in one step.
      if (nextBackslash < index) nextBackslash = positionOf(backslash, index);
      if (nextPercent < index) nextPercent = positionOf(percent, index);
      const next = Math.min(nextBackslash, nextPercent);
      length += bytes.copy(plain, length, index, next);
      index = next;
      if (index === bytes.length) break;
    }
    let byte = bytes[index] ?? 0;
    if (byte === backslash) {
      const next = bytes[index + 1];
      const code = next === lowerU && hexAt(bytes, index + 2) === 0 ? hexAt(bytes, index + 4) : null;
      if (code !== null) {
        byte = code;
        index += 5;
      } else if (next !== undefined && escapedAsThemselves.includes(next)) {
        byte = next;
        index++;
      }
    }
    plain[length++] = byte;
    pending = byte === percent ? 2 : Math.max(0, pending - 1);
    if (length < 3 || plain[length - 3] !== percent) continue;
    const code = hexAt(plain, length - 2);
    if (code === null) continue;
    length -= 2;
    plain[length - 1] = code;
    if (code === percent) pending = 2;
  }
  return plain.subarray(0, length);
}

/** The byte that two hexadecimal digits stand for, or null. */
function hexAt(bytes: Buffer, index: number): number | null {
  const [high, low] = [digitOf(bytes[index]), digitOf(bytes[index + 1])];
  return high === null || low === null ? null : high * 16 + low;
}

function digitOf(byte = 0): number | null {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : null;
}
