/** Changes of an input, as fast-check generates them: the same seed gives the same changes. */
import fc from "fast-check";

/** Texts that parsers look for. */
const tokens = [
  ...[
    "{",
    "}",
    "[",
    "]",
    '"',
    ",",
    ":",
    "\\",
    "/",
    "//",
    "@",
    "?",
    "#",
    "%",
    "..",
    "'",
    "=",
    "-",
    "+",
    "*",
    ";",
  ],
  ...["\n", "\r\n", "\t", " ", "\0", "\u001b[2J", "\ufeff", "\u202e", "\ud7ff", "é", "ß", "\u{1f600}"],
  ...[
    "\\u0000",
    "\\ud800",
    '""',
    "null",
    "true",
    "-0",
    "1e400",
    "1e-400",
    "9007199254740993",
    "0".repeat(40),
  ],
  ...["__proto__", "constructor", "rel", "links", "meta", "next", "href", "collection_total", "body"],
  ...["http://", "https://user:secret@", "blob:", "data:", "2026-02-30", "24:00:60", "W/", "L#", "latest-"],
];

/** Even from 0 to 1: doubles of fast-check are mostly tiny. */
const position = fc.nat(0xf_ffff).map((n) => n / 0x10_0000);

const change = fc.record({
  kind: fc.constantFrom("insert", "remove", "repeat", "byte", "token", "splice"),
  at: position,
  length: fc.nat(24),
  times: fc.constantFrom(1, 2, 8, 64),
  byte: fc.nat(255),
  token: fc.constantFrom(...tokens),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

export interface Mutation {
  /** Positions in the corpus, from 0 to 1: of the changed input, and of the one that parts come from. */
  readonly of: number;
  readonly from: number;
  readonly changes: readonly Change[];
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  of: position,
  from: position,
  changes: fc.array(change, { minLength: 1, maxLength: 6 }),
});

export const mutations = (count: number, seed: number): Mutation[] =>
  fc.sample(mutation, { numRuns: count, seed });

const maxBytes = 1 << 16;

export function mutate(input: Buffer, other: Buffer, changes: readonly Change[]): Buffer {
  let bytes = input;
  for (const { kind, at, length, times, byte, token } of changes) {
    const start = Math.floor(at * (bytes.length + 1));
    const [before, part, after] = [
      bytes.subarray(0, start),
      bytes.subarray(start, start + length),
      bytes.subarray(start + length),
    ];
    const inserted = {
      insert: Buffer.concat([Buffer.from(token.repeat(times)), part]),
      remove: Buffer.alloc(0),
      repeat: Buffer.concat(Array.from({ length: times + 1 }, () => part)),
      byte: Buffer.from(part.map((value, n) => (n === 0 ? byte : value))),
      token: Buffer.from(token),
      splice: other.subarray(Math.floor(at * other.length)).subarray(0, length * times),
    }[kind as "insert"];
    bytes = Buffer.concat([before, inserted, after]).subarray(0, maxBytes);
  }
  return bytes;
}
