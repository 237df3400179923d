import { InvalidArgumentError } from "commander";
import fc from "fast-check";
import { expect, it } from "vitest";
import { durationMillis, shortDurationMillis, wholeNumber } from "../../../src/cli/flags/option-values.ts";

it("a whole number of up to fifteen digits is parsed exactly", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (number) => {
      expect(wholeNumber(String(number))).toBe(number);
    }),
  );
});

it.each(["", "-1", "1.5", "1e3", " 1", "x", "1000000000000000"])("%j is not a whole number", (text) => {
  expect(() => wholeNumber(text)).toThrow(InvalidArgumentError);
});

it("a duration is any whole number of minutes, hours, days or weeks", () => {
  const units = { m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
  const unit = fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[]));
  fc.assert(
    fc.property(fc.nat(999_999), unit, (count, name) => {
      expect(durationMillis(`${count}${name}`)).toBe(count * units[name] * 1000);
      // Any accepted duration gives a valid date.
      expect(() =>
        new Date(Date.UTC(2026, 0) - durationMillis(`${count}${name}`)).toISOString(),
      ).not.toThrow();
    }),
  );
});

it("any other text is not a duration", () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[-+ ]?\d{0,3}[.,e]?\d{0,8} ?[a-zA-Z]{0,2}$/));
  fc.assert(
    fc.property(text, (given) => {
      fc.pre(!/^\d{1,6}[mhdw]$/.test(given));
      expect(() => durationMillis(given)).toThrow(InvalidArgumentError);
    }),
  );
});

it.each(["", "3", "d", "-1d", "1.5h", "3 d", "3D", "3s", "1h30m", "1000000d", "٣d"])(
  "%j is not a duration",
  (text) => {
    expect(() => durationMillis(text)).toThrow("It must be a duration such as 90m, 2h, 3d or 4w.");
  },
);

it("a short duration may also be in seconds", () => {
  expect(shortDurationMillis("5s")).toBe(5_000);
  expect(shortDurationMillis("20m")).toBe(1_200_000);
  expect(() => shortDurationMillis("5")).toThrow("It must be a duration such as 5s, 90m, 2h, 3d or 4w.");
});
