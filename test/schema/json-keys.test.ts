/**
 * Duplicate keys. These tests need a process of their own: once V8 has parsed a key with a backslash, it may read a later key
 * that contains an escape as that one (nodejs/node#63785). No key here has a backslash.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonOrThrow } from "../../schema/json.ts";
import { anyNumeral, anyText } from "./support/arbitrary-json.ts";

const parse = (text: string): unknown => parseJsonOrThrow(text).value;
const rewritten = (text: string): string => JSON.stringify(parse(text));

/** The members of an object, with keys that may be duplicate, with or without an escape. */
const anyMembers = fc.array(
  fc.tuple(fc.constantFrom("a", "b", "__proto__", "constructor", ":", "{", '\\"'), fc.boolean(), anyNumeral),
  { maxLength: 5 },
);
const spell = (key: string, escaped: boolean): string => (escaped && key === "a" ? '"\\u0061"' : `"${key}"`);

describe("object keys", () => {
  it("duplicate keys are found in any document, also with escapes", () => {
    fc.assert(
      fc.property(anyMembers, anyText, (members, text) => {
        const object = members
          .map(([key, escaped, numeral]) => `${spell(key, escaped)}:${numeral}`)
          .join(",");
        const document = `[${JSON.stringify([text])},{"in":{${object}}}]`;
        const { hasDuplicateKeys } = parseJsonOrThrow(document);
        expect(hasDuplicateKeys).toBe(new Set(members.map(([key]) => key)).size < members.length);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    '{"a":1,"a" :2}',
    '{"a" : 1, "a":2}',
    '{"a":1,"a"\n:\t2,"b":"\\":"}',
    '[{"a":1},{"a":{"b":1,"b" :2}}]',
  ])("duplicate keys with white space before the colon are found: %j", (text) => {
    expect(parseJsonOrThrow(text).hasDuplicateKeys).toBe(true);
  });

  it("a duplicate key has its last value, also for exact numbers", () => {
    expect(rewritten('{"a":1,"b":2,"a":9007199254740993}')).toBe('{"a":9007199254740993,"b":2}');
    expect(rewritten('{"a":9007199254740993,"a":{"b":1}}')).toBe('{"a":{"b":1}}');
    expect(rewritten('{"a":[9007199254740993,2],"a":[1,9007199254740995]}')).toBe(
      '{"a":[1,9007199254740995]}',
    );
  });

  it.each(['"x"', "9007199254740993"])(
    "keys like the members of every object are data: beside %s",
    (value) => {
      const text = `{"__proto__":{"polluted":${value}},"constructor":{"prototype":{"polluted":${value}}},"hasOwnProperty":1}`;
      expect(rewritten(text)).toBe(text);
      expect(Object.keys(parse(text) as object)).toEqual(["__proto__", "constructor", "hasOwnProperty"]);
      expect({}).not.toHaveProperty("polluted");
    },
  );
});
