import { InvalidArgumentError } from "commander";
import fc from "fast-check";
import { expect, it } from "vitest";
import { wholeNumber } from "../../src/cli/option-values.ts";

it("a whole number is read exactly, up to fifteen digits", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (number) => {
      expect(wholeNumber(String(number))).toBe(number);
    }),
  );
});

it.each(["", "-1", "1.5", "1e3", " 1", "x", "1000000000000000"])("%j is no whole number", (text) => {
  expect(() => wholeNumber(text)).toThrow(InvalidArgumentError);
});
