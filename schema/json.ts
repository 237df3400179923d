/**
 * Reading JSON without losing anything. In: text. Out: a value whose numbers are exact, and the keys that were given
 * twice. `JSON.parse` alone rounds 9007199254740993 and drops duplicate keys in silence.
 */

/** A number that a double would change, kept as it was written; `JSON.stringify` writes it back the same. */
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

// Node 22 has these (the "JSON.parse source text access" proposal); TypeScript's library does not name them yet.
const exactJson = JSON as unknown as JsonWithSource;

export const isRawNumber = (value: unknown): value is RawNumber => exactJson.isRawJSON(value);

export interface JsonLimits {
  /** Levels of nesting; V8 parses any depth but overflows its stack when it writes 5,000 of them. */
  readonly maxDepth: number;
}

export const defaultJsonLimits: JsonLimits = { maxDepth: 64 };

/** The text is not one JSON document, or one beyond the limits. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  readonly code: "not-json" | "too-deep";
  constructor(code: "not-json" | "too-deep", message: string) {
    super(message);
    this.code = code;
  }
}

export interface ParsedJson {
  readonly value: unknown;
  /** Whether some object gave a key twice; the last one won, as everywhere in JavaScript. */
  readonly hasDuplicateKeys: boolean;
}

/** Only a text that matches can hold a number that a double changes: sixteen digits, a three-digit exponent, or `-0`. */
const possiblyInexact = /[\d.]{16}|\d[eE][+-]?\d{3}|(?:^|[\s:,[])-0/;

/**
 * Parses one JSON document; a byte order mark before it is accepted once (RFC 8259, section 8.1).
 * @throws JsonError
 */
export function parseJsonOrThrow(text: string, limits: JsonLimits = defaultJsonLimits): ParsedJson {
  const document = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const rounded = parseOrThrow(() => JSON.parse(document));
  const members = countMembersOrThrow(rounded, limits.maxDepth, 0);
  return {
    value: possiblyInexact.test(document) ? exactJson.parse(document, keepExact) : rounded,
    // Counting marks is fast but can be misled by what is in texts; scanning them all is slow and sure.
    hasDuplicateKeys: countKeyMarks(document) !== members && countKeys(document) !== members,
  };
}

function parseOrThrow(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    // V8's message quotes the text, which may be private.
    throw new JsonError("not-json", "not a JSON document");
  }
}

function keepExact(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  return exactNumber(context.source) ?? exactJson.rawJSON(context.source);
}

/** The number that a numeral means; null where a double, or writing it back, would change it: 2^53 + 1, `1e400`, `-0`. */
export function exactNumber(numeral: string): number | null {
  const value = Number(numeral);
  // Past 2^53 a double may print the very digits it was read from and still be another number.
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(numeral)) return null;
  return !Object.is(value, -0) && digitsOf(numeral) === digitsOf(String(value)) ? value : null;
}

/** A number's sign-free digits and power of ten, so that `1.50`, `1.5` and `15e-1` compare equal. */
function digitsOf(numeral: string): string {
  const parts = /^-?(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(numeral);
  if (!parts) return numeral;
  const [, whole = "", fraction = "", exponent = "0"] = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${significant}e${power}`;
}

/** Members of all objects in a value, each of whose keys counts once. */
function countMembersOrThrow(value: unknown, maxDepth: number, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth === maxDepth) throw new JsonError("too-deep", `nested more than ${maxDepth} levels deep`);
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

/** What may end a key: every key, and at times what is within a text, so that it never counts too few. */
function countKeyMarks(text: string): number {
  return text.match(/"\s*:/g)?.length ?? 0;
}

/** Colons outside of texts: exactly one a key. */
function countKeys(text: string): number {
  let keys = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x3a) keys++;
    else if (code === 0x22) index = closingQuote(text, index);
  }
  return keys;
}

function closingQuote(text: string, opening: number): number {
  for (let index = opening + 1; ; index++) {
    index = text.indexOf('"', index);
    let backslashes = 0;
    while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return index;
  }
}
