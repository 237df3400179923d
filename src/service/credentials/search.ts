/** Searches the bytes of a response for a credential. Pure; takes time in proportion to their length. */
import { type Credential, encodingsOf } from "./credential.ts";
import { minSpecificLength, type SecretEncoding } from "./secret-encodings.ts";

/**
 * @returns a function that finds the credential in each form of `SecretEncoding`, in escapes of JSON and URLs, and in base64
 * with line ends; forms shorter than eight characters may occur by chance and are not searched
 */
export function createCredentialSearch(credential: Credential): (bytes: Buffer) => boolean {
  const specific = encodingsOf(credential).filter(({ bytes }) => bytes.length >= minSpecificLength);
  // Bytes that contain another pattern are found by it.
  const patterns = specific.filter(({ bytes }) =>
    specific.every((other) => other.bytes === bytes || !bytes.includes(other.bytes)),
  );
  const inLines = patterns.filter(isInLines);
  return (bytes) => {
    for (const reading of readingsOf(bytes)) {
      const sought = reading.is === "without line ends" ? inLines : patterns;
      if (sought.some((pattern) => reading.bytes.includes(pattern.bytes))) return true;
    }
    return false;
  };
}

/** Whether a form is usually broken into lines. */
export const isInLines = ({ form }: Pick<SecretEncoding, "form">): boolean =>
  form === "base64" || form === "base64url";

export interface Reading {
  readonly is: "as it is" | "without escapes" | "without line ends";
  readonly bytes: Buffer;
}

/** JSON in a JSON text, in an export of it as JSON. */
const maxNestedEscapes = 3;

/**
 * What bytes may stand for. Bytes without escapes come before the same without line ends, since an escape may be a line end.
 * The memory of each is used for the next one: there may be many bytes.
 */
export function* readingsOf(bytes: Buffer): Generator<Reading> {
  yield { is: "as it is", bytes };
  let plain = hasEscapes(bytes) || bytes.includes("\n") ? Buffer.from(bytes) : bytes;
  for (let level = 0; level < maxNestedEscapes && hasEscapes(plain); level++) {
    const { length } = plain;
    plain = removeEscapes(plain);
    if (plain.length === length) break;
    yield { is: "without escapes", bytes: plain };
  }
  if (plain.includes("\n")) yield { is: "without line ends", bytes: removeLineEnds(plain) };
}

/** In place, also without the indentation of the lines. */
function removeLineEnds(bytes: Buffer): Buffer {
  const isIndentation = (byte: number | undefined) => byte === 0x20 || byte === 0x09;
  let length = 0;
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf("\n", from);
    const end = found === -1 ? bytes.length : found;
    const isCrLf = found > from && bytes[found - 1] === 0x0d;
    length += bytes.copy(bytes, length, from, isCrLf ? end - 1 : end);
    from = end + 1;
    while (isIndentation(bytes[from])) from++;
  }
  return bytes.subarray(0, length);
}

const backslash = 0x5c;
const percent = 0x25;
const lowerU = 0x75;
const maxAscii = 0x7f;
/** `\u0041` */
const bytesPerUnit = 6;

const hasEscapes = (bytes: Buffer): boolean => bytes.includes(backslash) || bytes.includes(percent);

/** Quotation mark, slash, backslash, and the control characters with a letter. */
const shortEscapes: ReadonlyMap<number | undefined, number> = new Map(
  Object.entries({ '"': '"', "/": "/", "\\": "\\", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }).map(
    ([sign, character]) => [sign.charCodeAt(0), character.charCodeAt(0)],
  ),
);

/** In place: characters for `\u0041`, `\/` and `%41`, also for `%41` within others. */
function removeEscapes(bytes: Buffer): Buffer {
  // No character is longer than its escape, so nothing is overwritten before it is read.
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
      length += bytes.copy(bytes, length, index, next);
      index = next;
      if (index === bytes.length) break;
    }
    let byte = bytes[index] ?? 0;
    if (byte === backslash) {
      const unit = unitAt(bytes, index);
      const short = shortEscapes.get(bytes[index + 1]);
      if (unit !== null && unit > maxAscii) {
        const low = isHighSurrogate(unit) ? unitAt(bytes, index + bytesPerUnit) : null;
        length += bytes.write(String.fromCharCode(unit, ...(low === null ? [] : [low])), length);
        index += bytesPerUnit * (low === null ? 1 : 2) - 1;
        pending = 0;
        continue;
      }
      if (unit !== null) {
        byte = unit;
        index += bytesPerUnit - 1;
      } else if (short !== undefined) {
        byte = short;
        index++;
      }
    }
    bytes[length++] = byte;
    pending = byte === percent ? 2 : Math.max(0, pending - 1);
    if (length < 3 || bytes[length - 3] !== percent) continue;
    const code = hexAt(bytes, length - 2);
    if (code === null) continue;
    length -= 2;
    bytes[length - 1] = code;
    if (code === percent) pending = 2;
  }
  return bytes.subarray(0, length);
}

/** The UTF-16 unit that `\u00fc` stands for, or null. */
function unitAt(bytes: Buffer, index: number): number | null {
  if (bytes[index] !== backslash || bytes[index + 1] !== lowerU) return null;
  const [high, low] = [hexAt(bytes, index + 2), hexAt(bytes, index + 4)];
  return high === null || low === null ? null : high * 256 + low;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

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
