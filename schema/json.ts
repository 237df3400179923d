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
  const { depth, members } = measure(document);
  if (depth > limits.maxDepth) {
    throw new JsonError("too-deep", `nested ${depth} levels deep, ${limits.maxDepth} are allowed`);
  }
  let value: unknown;
  try {
    value = possiblyInexact.test(document) ? exactJson.parse(document, keepExact) : JSON.parse(document);
  } catch {
    // V8's message quotes the text, which may be private.
    throw new JsonError("not-json", "not a JSON document");
  }
  return { value, hasDuplicateKeys: countMembers(value) !== members };
}

function keepExact(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  return exactNumber(context.source) ?? exactJson.rawJSON(context.source);
}

/** The number that a numeral means; null where a double, or writing it back, would change it: 2^53 + 1, `1e400`, `-0`. */
export function exactNumber(numeral: string): number | null {
  const value = Number(numeral);
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

/** Counts nesting and `key: value` members by their punctuation, which costs about a microsecond a kilobyte. */
function measure(text: string): { depth: number; members: number } {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: // a string: jump to its closing quote
        do {
          index = text.indexOf('"', index + 1);
          if (index === -1) return { depth: deepest, members };
        } while (isEscaped(text, index));
        break;
      case 0x3a:
        members++;
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > deepest) deepest = depth;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
    }
  }
  return { depth: deepest, members };
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}

function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null || isRawNumber(value)) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += countMembers(item);
    return members;
  }
  for (const key in value) members += 1 + countMembers((value as Record<string, unknown>)[key]);
  return members;
}
