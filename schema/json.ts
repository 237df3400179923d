/**
 * Parses JSON without loss. In: text. Out: a value with exact numbers, and whether an object had duplicate keys. `JSON.parse`
 * rounds 9007199254740993 and drops duplicate keys silently.
 */
import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { closingQuote, findRepeatedKeys } from "./input/json-text.ts";
import { limits } from "./input/limits.ts";
import { trimEnd, trimStart } from "./input/trim.ts";

/** A number that a double would change, as written; `JSON.stringify` writes it unchanged. */
export interface RawNumber {
  readonly rawJSON: string;
}

interface JsonWithSource {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}

// Node 22 has these (the "JSON.parse source text access" proposal); TypeScript's library does not declare them yet.
const exactJson = JSON as unknown as JsonWithSource;

export const isRawNumber = (value: unknown): value is RawNumber => exactJson.isRawJSON(value);

/** Whether it is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

export interface JsonLimits {
  /** Levels of nesting. */
  readonly maxDepth: number;
  /** Objects, lists, texts, numbers, … in the document. */
  readonly maxValues: number;
}

export const defaultJsonLimits: JsonLimits = { maxDepth: limits.jsonDepth, maxValues: limits.jsonValues };

/** The text is not one JSON document, or exceeds the limits. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  readonly code: "not-json" | "too-deep" | "too-many-values";
  constructor(code: JsonError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Decodes UTF-8, including a byte order mark; null if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  // Half the time of a TextDecoder with `fatal`.
  if (!isUtf8(bytes)) return null;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

export interface ParsedJson {
  readonly value: unknown;
  /** Whether an object has a key twice; the last value is used, as in `JSON.parse`. */
  readonly hasDuplicateKeys: boolean;
  /** As `findRepeatedKeys` finds them; absent without duplicate keys. */
  readonly repeatedKeys?: readonly (readonly string[])[];
}

/**
 * Parses one JSON document; accepts one byte order mark before it (RFC 8259, section 8.1).
 * @throws JsonError
 */
export function parseJsonOrThrow(text: string, within: Partial<JsonLimits> = {}): ParsedJson {
  const { document, maxDepth } = requireSize(text, within);
  const { keys, inexact } = scanOutsideStrings(document);
  const { value, members } = inexact > 0 ? parseMarked(document, maxDepth) : parse(document, maxDepth);
  if (keys === members) return { value, hasDuplicateKeys: false };
  return { value, hasDuplicateKeys: true, repeatedKeys: findRepeatedKeys(document) };
}

/** Parses bytes of UTF-8. @throws JsonError */
export function parseJsonBytesOrThrow(bytes: Uint8Array, within: Partial<JsonLimits> = {}): ParsedJson {
  const text = decodeUtf8(bytes);
  if (text === null) throw new JsonError("not-json", "not UTF-8");
  return parseJsonOrThrow(text, within);
}

/** As `parseJsonOrThrow`, but faster and with rounded numbers, to recognize a document. @throws JsonError */
export function parseRoundedJsonOrThrow(text: string, within: Partial<JsonLimits> = {}): unknown {
  const { document, maxDepth } = requireSize(text, within);
  return parse(document, maxDepth).value;
}

/** @throws JsonError */
function requireSize(text: string, within: Partial<JsonLimits>): { document: string; maxDepth: number } {
  const { maxDepth, maxValues } = { ...defaultJsonLimits, ...within };
  const document = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  // Before parsing: 16 MB of `[],` become gigabytes. A short text is not read twice.
  if (document.length > 2 * maxValues) requireLimits(document, maxDepth, maxValues);
  return { document, maxDepth };
}

/** @throws JsonError */
function parse(document: string, maxDepth: number): { value: unknown; members: number } {
  let value: unknown;
  try {
    value = JSON.parse(document);
  } catch {
    throw notJson();
  }
  return { value, members: countMembersOrThrow(value, maxDepth, 0) };
}

/** V8's message quotes the text, which may be private. */
const notJson = () => new JsonError("not-json", "not a JSON document");

/**
 * Parses a document with the inexact numbers as texts, which are then replaced. A reviver would get the source of each number
 * too, but for it V8 keeps a copy of the whole document, and a document that was parsed before is a second one.
 */
function parseMarked(document: string, maxDepth: number): { value: unknown; members: number } {
  // Random, so no text of the document begins with it.
  const mark = `${randomUUID()}:`;
  const parts: string[] = [];
  let copied = 0;
  scanOutsideStrings(document, (start, end) => {
    parts.push(document.slice(copied, start), `"${mark}`, document.slice(start, end), '"');
    copied = end;
  });
  parts.push(document.slice(copied));
  const { value, members } = parse(parts.join(""), maxDepth);
  return { value: withRawNumbers(value, mark), members };
}

/** Changes lists and objects in place. @throws JsonError for a number in the place of a key */
function withRawNumbers(value: unknown, mark: string): unknown {
  if (typeof value === "string") return value.startsWith(mark) ? toRawNumber(value, mark) : value;
  if (typeof value !== "object" || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    if (key.startsWith(mark)) throw notJson();
    const member = members[key];
    if (typeof member === "object" || (typeof member === "string" && member.startsWith(mark)))
      members[key] = withRawNumbers(member, mark);
  }
  return value;
}

const toRawNumber = (text: string, mark: string): RawNumber => exactJson.rawJSON(text.slice(mark.length));

/** The number of a numeral; null if a double, or writing it back, would change it: 2^53 + 1, `1e400`, `-0`. */
export function exactNumber(numeral: string): number | null {
  if (numeral.length > limits.numeralLength || countDigits(numeral) > maxDigits) return null;
  const value = Number(numeral);
  // Beyond 2^53 a double can print the digits that it was parsed from and still be another number.
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(numeral)) return null;
  if (!Number.isFinite(value) || Object.is(value, -0)) return null;
  return digitsOf(numeral) === digitsOf(String(value)) ? value : null;
}

/** The most digits that a double is written with. */
const maxDigits = 17;

/** Significant ones: without zeros at both ends. */
function countDigits(numeral: string): number {
  let digits = 0;
  let zeros = 0;
  for (let index = 0; index < numeral.length; index++) {
    const code = numeral.charCodeAt(index);
    if (code === 0x30) zeros += digits > 0 ? 1 : 0;
    else if (code > 0x30 && code <= 0x39) {
      digits += zeros + 1;
      zeros = 0;
    } else if ((code | 0x20) === 0x65) break;
  }
  return digits;
}

/** A number's sign-free digits and power of ten, so that `1.50`, `1.5` and `15e-1` compare equal. */
function digitsOf(numeral: string): string {
  const [mantissa = "", exponent = "0"] = numeral.split(/[eE]/, 2);
  const [whole = "", fraction = ""] = mantissa.split(".", 2);
  const digits = trimStart(trimStart(whole, "-") + fraction, "0");
  const significant = trimEnd(digits, "0");
  if (significant === "") return "0";
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${significant}e${power}`;
}

const tooDeep = (maxDepth: number) => new JsonError("too-deep", `nested more than ${maxDepth} levels deep`);

/** Counts the members of all objects in a value, without duplicates. */
function countMembersOrThrow(value: unknown, maxDepth: number, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth === maxDepth) throw tooDeep(maxDepth);
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += countMembersOrThrow(item, maxDepth, depth + 1);
    return members;
  }
  for (const key in value) {
    members += 1 + countMembersOrThrow((value as Record<string, unknown>)[key], maxDepth, depth + 1);
  }
  return members;
}

/** Counts an empty list or object twice. @throws JsonError */
function requireLimits(document: string, maxDepth: number, maxValues: number): void {
  let values = 1;
  let depth = 0;
  for (let index = 0; index < document.length; index++) {
    const code = document.charCodeAt(index);
    if (code === 0x22) index = closingQuote(document, index);
    else if (code === 0x2c) values++;
    else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === 0x5b || code === 0x7b) {
      values++;
      if (++depth > maxDepth) throw tooDeep(maxDepth);
    }
    if (values > maxValues) throw new JsonError("too-many-values", `holds more than ${maxValues} values`);
  }
}

/**
 * Scans everything outside strings: counts colons, one per key, and numbers that a double changes.
 * @param note called with the place of each such number
 * @throws JsonError for too many of them
 */
function scanOutsideStrings(
  document: string,
  note: (start: number, end: number) => void = () => {},
): { keys: number; inexact: number } {
  let keys = 0;
  let inexact = 0;
  for (let index = 0; index < document.length; index++) {
    const code = document.charCodeAt(index);
    if (code === 0x22) index = closingQuote(document, index);
    else if (code === 0x3a) keys++;
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = endOfNumeral(document, index);
      if (isChanged(document, index, end)) {
        if (++inexact > limits.inexactNumbers)
          throw new JsonError(
            "too-many-values",
            `holds more than ${limits.inexactNumbers} numbers that a double would change`,
          );
        note(index, end);
      }
      index = end - 1;
    }
  }
  return { keys, inexact };
}

/** A double can change only numbers with at least sixteen digits, an exponent, or `-0`. Most need no text of their own. */
function isChanged(document: string, start: number, end: number): boolean {
  const isZero = document.charCodeAt(start) === 0x2d && document.charCodeAt(start + 1) === 0x30;
  if (end - start < 16 && !isZero && !hasExponent(document, start, end)) return false;
  const numeral = document.slice(start, end);
  return numeralForm.test(numeral) && exactNumber(numeral) === null;
}

function hasExponent(document: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    // In lower case: `e`.
    if ((document.charCodeAt(index) | 0x20) === 0x65) return true;
  }
  return false;
}

/** Of a valid document; another one stays as it is, so that it is refused. */
const numeralForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function endOfNumeral(document: string, start: number): number {
  let end = start + 1;
  while (!endsNumeral(document.charCodeAt(end))) end++;
  return end;
}

/** In a valid document, only white space, a comma, a bracket or the end (NaN) follows a number. */
function endsNumeral(code: number): boolean {
  return !(code > 0x20) || code === 0x2c || code === 0x5d || code === 0x7d;
}
