import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectParameter } from "../../../src/cli/flags/query-flags.ts";
import { readParameter } from "../../../src/query/sql/parameter-texts.ts";

describe("values", () => {
  it.each([
    ["65", 65n],
    ["-1", -1n],
    ["9223372036854775807", 2n ** 63n - 1n],
    ["9223372036854775808", "9223372036854775808"],
    ["1.5", 1.5],
    ["1e3", 1000],
    ["true", 1n],
    ["false", 0n],
    ["null", null],
    ['"65"', "65"],
    ['"a\\nb"', "a\nb"],
    ["", ""],
    ["65F", "65F"],
    ["007", "007"],
    [" 65", " 65"],
    ["2026-01-31", "2026-01-31"],
    ["comexim", "comexim"],
    ['["a", "b"]', '["a", "b"]'],
    ['{"a": 1}', '{"a": 1}'],
    ['"unfinished', '"unfinished'],
  ])("%s is parsed", (text, value) => {
    expect(readParameter(text)).toBe(value);
  });

  it("the value of a parameter is any text in quotes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(readParameter(JSON.stringify(text))).toBe(text);
      }),
    );
  });
});

describe("names", () => {
  it("a parameter is split at the first equals sign", () => {
    expect(collectParameter("größe=a=b\nc", { band: 65n })).toEqual({ band: 65n, größe: "a=b\nc" });
    expect(collectParameter("x=")).toEqual({ x: "" });
  });

  it.each(["brand", "=x", ":brand=x", "a b=c"])("a parameter is refused as %j", (text) => {
    expect(() => collectParameter(text)).toThrow("It must be NAME=VALUE");
  });

  it("a parameter is refused with a second value", () => {
    expect(() => collectParameter("a=2", { a: 1n })).toThrow("The parameter a has two values.");
  });
});
