import fc from "fast-check";

const digits = (minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(..."0123456789"), { minLength, maxLength }).map((each) => each.join(""));

const whole = fc.oneof(
  fc.constant("0"),
  fc.tuple(fc.constantFrom(..."123456789"), digits(0, 19)).map(([first, rest]) => first + rest),
);

/** Any JSON number, mostly near the limits of a double: many digits, large exponents. */
export const anyNumeral: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("", "-"),
    whole,
    fc.option(digits(1, 20), { nil: null }),
    fc.option(fc.tuple(fc.constantFrom("e", "E"), fc.constantFrom("", "+", "-"), digits(1, 3)), {
      nil: null,
    }),
  )
  .map(([sign, integer, fraction, exponent]) =>
    [sign, integer, fraction === null ? "" : `.${fraction}`, ...(exponent ?? [])].join(""),
  );

/** The value of a numeral as sign, significant digits and power of ten, computed with integers only. */
export function meaningOf(numeral: string): string {
  const [mantissa = "", exponent = "0"] = numeral.toLowerCase().split("e");
  const [integer = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const sign = numeral.startsWith("-") ? "-" : "+";
  let coefficient = BigInt(integer + fraction);
  let power = BigInt(exponent) - BigInt(fraction.length);
  if (coefficient === 0n) return `${sign}0`;
  for (; coefficient % 10n === 0n; coefficient /= 10n) power++;
  return `${sign}${coefficient}e${power}`;
}

/** Any UTF-16 text, with frequent lone surrogates, NUL and JSON punctuation. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          "\0",
          '"',
          "\\",
          '\\"',
          "{",
          "}",
          "[",
          "]",
          ":",
          ",",
          "-0",
          "\ufeff",
          "😀",
          "é",
          "שלום",
          "\u202e",
        ),
        fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit)),
      ),
    )
    .map((parts) => parts.join("")),
);
