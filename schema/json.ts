/**
 * Parses JSON without loss. In: text. Out: a value with exact numbers, and whether an object had duplicate keys. `JSON.parse`
 * rounds 9007199254740993 and drops duplicate keys silently.
 */
import { isUtf8 } from "node:buffer";
import { limits } from "./input/limits.ts";
import { trimEnd, trimStart } from "./input/trim.ts";

/** A number that a double would change, as written; `JSON.stringify` writes it unchanged. */
export interface RawNumber {
  readonly rawJSON: string;
}

interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}

// Node 22 has these (the "JSON.parse source text access" proposal); TypeScript's library does not declare them yet.
const exactJson = JSON as unknown as JsonWithSource;

export const isRawNumber = (value: unknown): value is RawNumber => exactJson.isRawJSON(value);

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
}

/**
 * Parses one JSON document; accepts one byte order mark before it (RFC 8259, section 8.1).
 * @throws JsonError
 */
export function parseJsonOrThrow(text: string, within: Partial<JsonLimits> = {}): ParsedJson {
  const { document, value, members } = parseRoundedOrThrow(text, within);
  const { keys, mayBeInexact } = scanOutsideStrings(document);
  return {
    value: mayBeInexact ? exactJson.parse(document, keepExact) : value,
    hasDuplicateKeys: keys !== members,
  };
}

/** Parses bytes of UTF-8. @throws JsonError */
export function parseJsonBytesOrThrow(bytes: Uint8Array, within: Partial<JsonLimits> = {}): ParsedJson {
  const text = decodeUtf8(bytes);
  if (text === null) throw new JsonError("not-json", "not UTF-8");
  return parseJsonOrThrow(text, within);
}

/** As `parseJsonOrThrow`, but faster and with rounded numbers, to recognize a document. @throws JsonError */
export function parseRoundedJsonOrThrow(text: string, within: Partial<JsonLimits> = {}): unknown {
  return parseRoundedOrThrow(text, within).value;
}

function parseRoundedOrThrow(text: string, within: Partial<JsonLimits>) {
  const { maxDepth, maxValues } = { ...defaultJsonLimits, ...within };
  const document = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  // Before parsing: 16 MB of `[],` become gigabytes. A short text is not read twice.
  if (document.length > 2 * maxValues) requireLimits(document, maxDepth, maxValues);
  let value: unknown;
  try {
    value = JSON.parse(document);
  } catch {
    // V8's message quotes the text, which may be private.
    throw new JsonError("not-json", "not a JSON document");
  }
  return { document, value, members: countMembersOrThrow(value, maxDepth, 0) };
}

function keepExact(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  return exactNumber(context.source) ?? exactJson.rawJSON(context.source);
}

/** The number of a numeral; null if a double, or writing it back, would change it: 2^53 + 1, `1e400`, `-0`. */
export function exactNumber(numeral: string): number | null {
  if (numeral.length > limits.numeralLength) return null;
  const value = Number(numeral);
  // Beyond 2^53 a double can print the digits that it was parsed from and still be another number.
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(numeral)) return null;
  if (!Number.isFinite(value) || Object.is(value, -0)) return null;
  return digitsOf(numeral) === digitsOf(String(value)) ? value : null;
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

/** Scans everything outside strings: counts colons, one per key, and looks for numbers that a double may change. */
function scanOutsideStrings(document: string): { keys: number; mayBeInexact: boolean } {
  let keys = 0;
  let mayBeInexact = false;
  for (let index = 0; index < document.length; index++) {
    const code = document.charCodeAt(index);
    if (code === 0x22) index = closingQuote(document, index);
    else if (code === 0x3a) keys++;
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = endOfNumeral(document, index);
      mayBeInexact ||= mayChange(document.slice(index, end));
      index = end - 1;
    }
  }
  return { keys, mayBeInexact };
}

/** A double can change only numbers with at least sixteen digits, an exponent, or `-0`. */
function mayChange(numeral: string): boolean {
  return numeral.length >= 16 || numeral.startsWith("-0") || /[eE]/.test(numeral);
}

function endOfNumeral(document: string, start: number): number {
  let end = start + 1;
  while (!endsNumeral(document.charCodeAt(end))) end++;
  return end;
}

/** In a valid document, only white space, a comma, a bracket or the end (NaN) follows a number. */
function endsNumeral(code: number): boolean {
  return !(code > 0x20) || code === 0x2c || code === 0x5d || code === 0x7d;
}

/** The index of the quote that ends a text, or the length of the document without one. */
function closingQuote(text: string, opening: number): number {
  for (let index = opening + 1; ; index++) {
    index = text.indexOf('"', index);
    if (index === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return index;
  }
}
