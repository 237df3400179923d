import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decimal, document, integer, open } from "../../schema/fields.ts";
import { anyNumeral, meaningOf } from "./support/arbitrary-json.ts";
import { jsonValue } from "./support/wrong-values.ts";

const wrong = Symbol("wrong type");
const cellOf = (
  field: typeof integer | typeof decimal | typeof document | typeof open,
  text: string,
): unknown => {
  const read = field.safeParse(jsonValue(text));
  return read.success ? read.data : wrong;
};

describe("an integer field", () => {
  it.each([
    ["12", 12n],
    ["-12", -12n],
    ["12.0", 12n],
    ["1e3", 1000n],
    ["-0", 0n],
    ["9007199254740991", 9007199254740991n],
    ["-9007199254740991", -9007199254740991n],
    ["9007199254740992", "9007199254740992"],
    ["-9007199254740992", "-9007199254740992"],
    ["9007199254740993", "9007199254740993"],
    ["10000000000000000", "10000000000000000"],
    ["18446744073709551616", "18446744073709551616"],
    ["1e20", "100000000000000000000"],
    ['"12"', 12n],
    ['"007"', 7n],
    ['"-12"', -12n],
    ['"9007199254740993"', "9007199254740993"],
    ["12.5", wrong],
    ['"12.0"', wrong],
    ['" 12"', wrong],
    ['"0x10"', wrong],
    ['""', wrong],
    ["1e400", wrong],
  ])("%s is stored as %o", (text, cell) => {
    expect(cellOf(integer, text)).toBe(cell);
  });

  it("every integer is stored: as a number up to 2^53, as digits beyond", () => {
    const anyInteger = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
    fc.assert(
      fc.property(fc.oneof(anyInteger, fc.maxSafeInteger().map(BigInt)), fc.boolean(), (value, isText) => {
        const cell = cellOf(integer, isText ? `"${value}"` : `${value}`);
        expect(cell).toBe(Number.isSafeInteger(Number(value)) ? value : String(value));
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a decimal field", () => {
  it.each([
    ["81.5", 81.5],
    ["81.50", 81.5],
    ["25", 25],
    ['"81.50"', 81.5],
    ['"25"', 25],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", "9007199254740992"],
    ["1e20", 1e20],
    ['"9007199254740993"', "9007199254740993"],
    ["0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"],
    ['"0.1000000000000000055511151231257827"', "0.1000000000000000055511151231257827"],
    ["1e400", "1e400"],
    ["-0", "-0"],
    ['"-0.0"', "-0.0"],
    ['"25 cm"', wrong],
    ['"25,5"', wrong],
    ['"NaN"', wrong],
    ['""', wrong],
  ])("%s is stored as %o", (text, cell) => {
    expect(cellOf(decimal, text)).toBe(cell);
  });

  it("every number is stored exactly: as a number if a double is exact, else as text", () => {
    fc.assert(
      fc.property(anyNumeral, (numeral) => {
        const cell = cellOf(decimal, numeral);
        if (typeof cell === "number") expect(meaningOf(String(cell))).toBe(meaningOf(numeral));
        else expect(cell).toBe(numeral);
        expect(typeof cell === "number").toBe(isDouble(numeral));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a field without a specified type", () => {
  it.each([
    ["12", 12n],
    ["12.5", 12.5],
    ["9007199254740992", "9007199254740992"],
    ["1e20", "100000000000000000000"],
    ["9007199254740993", "9007199254740993"],
    ["1e400", "1e400"],
    ["-0", "-0"],
    ["false", 0n],
    ['""', ""],
    ["null", null],
    ['{"a":[9007199254740993,-0,1e400]}', '{"a":[9007199254740993,-0,1e400]}'],
    ['["\\ud800\\u0000"]', '["\\ud800\\u0000"]'],
  ])("%s is stored as %o", (text, cell) => {
    expect(cellOf(open, text)).toBe(cell);
  });
});

describe("a document field", () => {
  it.each([
    '{"a":9007199254740993,"b":[-0,1e400]}',
    '{"__proto__":"65J","constructor":{}}',
    "[]",
    "{}",
    '["\\udc00"]',
  ])("%s is stored unchanged", (text) => {
    expect(cellOf(document, text)).toBe(text);
  });
});

function isDouble(numeral: string): boolean {
  const number = Number(numeral);
  if (/^-?\d{16,}$/.test(numeral) && !Number.isSafeInteger(number)) return false;
  return Number.isFinite(number) && meaningOf(String(number)) === meaningOf(numeral);
}
