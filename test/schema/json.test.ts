import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limits } from "../../schema/input/limits.ts";
import { defaultJsonLimits, isRawNumber, JsonError, parseJsonOrThrow } from "../../schema/json.ts";
import { anyNumeral, anyText, meaningOf } from "./support/arbitrary-json.ts";

const parse = (text: string): unknown => parseJsonOrThrow(text).value;
const rewritten = (text: string): string => JSON.stringify(parse(text));

const codeOf = (text: string): string => {
  try {
    parseJsonOrThrow(text);
  } catch (error) {
    if (error instanceof JsonError) return error.code;
    throw error;
  }
  return "parsed";
};

/** Whether the document may contain an integer beyond 2^53, which stays as written. */
const hasWholeBeyondDouble = (text: string): boolean => /(?<![\d.])\d{16}/.test(text);

const anyOrdinaryJson = fc
  .jsonValue({ stringUnit: "binary" })
  .filter((value) => !hasWholeBeyondDouble(JSON.stringify(value)));

describe("exact numbers", () => {
  it("numbers in any document have the same value after parsing and writing", () => {
    const places: readonly [before: string, after: string][] = [
      ["", ""],
      ["[", "]"],
      ['{"a":', "}"],
      [' \n[ 1e5,\t{ "b": [ "text" , ', "\n]}]"],
      ['\ufeff{"1":"-0","0":[', ',9007199254740993],"c":12.50}'],
    ];
    fc.assert(
      fc.property(anyNumeral, fc.constantFrom(...places), (numeral, [before, after]) => {
        const marked = rewritten(`${before}"@"${after}`);
        const written = rewritten(before + numeral + after);
        const start = marked.indexOf('"@"');
        const number = written.slice(start, start + written.length - (marked.length - 3));
        expect(meaningOf(number)).toBe(meaningOf(numeral));
        expect(`${written.slice(0, start)}"@"${written.slice(start + number.length)}`).toBe(marked);
      }),
      { numRuns: 3000 },
    );
  });

  it("a number that a double represents exactly is a plain number", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        fc.pre(!Object.is(number, -0) && !hasWholeBeyondDouble(String(number)));
        expect(parse(String(number))).toBe(number);
        expect(parse(`[${number}]`)).toEqual([number]);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["1.50", 1.5],
    ["-12.0", -12],
    ["1E2", 100],
    ["0.1", 0.1],
    ["0.10000000000000000000", 0.1],
    ["9007199254740991", 9007199254740991],
    ["5e-324", 5e-324],
    ["1.7976931348623157e308", Number.MAX_VALUE],
    ["0e999", 0],
  ])("%s is the number %d", (text, number) => {
    expect(parse(text)).toBe(number);
  });

  it.each([
    "9007199254740992",
    "-9007199254740993",
    "12345678901234567000",
    "9007199254740993.0",
    "0.1000000000000000055511151231257827",
    "3.14159265358979323",
    "1e400",
    "-1e400",
    "1e-400",
    "1.7976931348623159e308",
    "-0",
    "-0.0",
    "-0e5",
    "1e99999999999999999999",
  ])("%s stays as written", (text) => {
    const value = parse(text);
    expect(isRawNumber(value) && value.rawJSON).toBe(text);
    expect(rewritten(`{"a":[${text}]}`)).toBe(`{"a":[${text}]}`);
  });
});

describe("other values", () => {
  it("values are those of JSON.parse for any document", () => {
    fc.assert(
      fc.property(anyOrdinaryJson, fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const parsed = parseJsonOrThrow(text);
        expect(parsed).toEqual({ value: JSON.parse(text), hasDuplicateKeys: false });
        expect(JSON.stringify(parsed.value, null, indent)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it("values are those of JSON.parse beside a number that a double would change", () => {
    fc.assert(
      fc.property(anyOrdinaryJson, (value) => {
        const { value: parsed, hasDuplicateKeys } = parseJsonOrThrow(`[1e400,${JSON.stringify(value)}]`);
        expect(hasDuplicateKeys).toBe(false);
        expect((parsed as unknown[])[1]).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });

  it("text is refused with JsonError exactly if JSON.parse refuses it", () => {
    const anySpoiltJson = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(60), fc.nat(3), anyText)
      .map(([text, at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed));
    fc.assert(
      fc.property(anySpoiltJson, (text) => {
        fc.pre(!text.startsWith("\ufeff"));
        let expected = "parsed";
        try {
          JSON.parse(text);
        } catch {
          expected = "not-json";
        }
        expect(codeOf(text)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    "",
    " ",
    "nul",
    "undefined",
    "NaN",
    "01",
    "+1",
    "1.",
    ".5",
    "1e",
    "'a'",
    '"a',
    '"\t"',
    '"\\x"',
    "[1,]",
  ])("%j is refused as not JSON", (text) => {
    expect(codeOf(text)).toBe("not-json");
  });

  it.each([
    '{"a":1,}',
    "{a:1}",
    '{"a" 1}',
    "[1]]",
    "{}{}",
    '{"a":1}\n{"a":2}',
    "{} trailing",
    "[\u00a01]",
    "{}\0",
  ])("%j is refused as not one document", (text) => {
    expect(codeOf(text)).toBe("not-json");
  });

  it("an error does not quote the text, which may be private", () => {
    expect(() => parse('{"email": zoe@mail.example}')).toThrow(/^not a JSON document$/);
  });
});

describe("byte order marks", () => {
  it("one byte order mark before the document is accepted", () => {
    expect(parse('\ufeff{"a":"\ufeff"}')).toEqual({ a: "\ufeff" });
  });

  it.each(["\ufeff\ufeff{}", "{}\ufeff", "[\ufeff1]", " \ufeff{}", "\ufeff"])(
    "a byte order mark elsewhere is refused: %j",
    (text) => {
      expect(codeOf(text)).toBe("not-json");
    },
  );
});

describe("depth", () => {
  const nested = (depth: number, open = "[", close = "]") => open.repeat(depth) + close.repeat(depth);
  const { maxDepth } = defaultJsonLimits;

  it("nesting is accepted up to the limit and refused beyond it", () => {
    expect(codeOf(nested(maxDepth))).toBe("parsed");
    expect(codeOf(nested(maxDepth + 1))).toBe("too-deep");
    expect(codeOf(`${'{"a":'.repeat(maxDepth + 1)}1${"}".repeat(maxDepth + 1)}`)).toBe("too-deep");
    expect(() => parseJsonOrThrow("[[]]", { maxDepth: 1 })).toThrow("nested more than 1 levels deep");
  });

  it("siblings and brackets in strings are not levels of nesting", () => {
    expect(codeOf(`[${Array.from({ length: 1000 }, () => "[]").join(",")}]`)).toBe("parsed");
    expect(codeOf(JSON.stringify(['\\"[{'.repeat(1000)]))).toBe("parsed");
  });

  it("nesting of any depth is refused without a crash", () => {
    expect(codeOf(nested(1_000_000))).toBe("too-deep");
    expect(codeOf("[".repeat(2 * defaultJsonLimits.maxValues))).toBe("not-json");
    expect(codeOf(nested(500_000, '{"a":['.slice(0, 6), "]}"))).toBe("too-deep");
  });
});

describe("numbers that a double would change", () => {
  const long = "0.1234567890123456789";
  const list = (count: number) => `[${Array.from({ length: count }, () => long).join(",")}]`;

  it("more of them than a body may hold are refused", () => {
    expect(codeOf(list(limits.inexactNumbers))).toBe("parsed");
    expect(codeOf(list(limits.inexactNumbers + 1))).toBe("too-many-values");
    // As long, but a double holds them.
    expect(codeOf(list(limits.inexactNumbers + 1).replaceAll(long, "0.12500000000000000000"))).toBe("parsed");
  });

  it.each([
    `{${long}:1}`,
    `{${long} :1}`,
    `[${long} ${long}]`,
    `[0${long}]`,
    `[${long}"a"]`,
    `[1.${"1".repeat(20)}.1]`,
  ])("they do not make an invalid document valid: %s", (text) => {
    expect(codeOf(text)).toBe("not-json");
  });

  it("they are kept in lists and objects of any depth, beside texts that look like them", () => {
    const text = `{"a":[${long},"${long}",{"__proto__":${long},"b":-0}],"c":1e400,"d":null}`;
    const { value } = parseJsonOrThrow(text);
    expect(JSON.stringify(value)).toBe(text);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});
