import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { variants } from "../../../src/sandbox/variants.ts";
import { coverPairs, type Parameters, type Row } from "../support/cover-pairs.ts";

/** Counted without the generator: two values of different parameters that no row has together. */
function missingPairs<P extends Parameters>(parameters: P, rows: readonly Row<P>[]): string[] {
  const entries = Object.entries(parameters);
  return entries.flatMap(([one, ones], n) =>
    entries
      .slice(n + 1)
      .flatMap(([other, others]) =>
        ones.flatMap((a) =>
          others
            .filter((b) => !rows.some((row) => row[one] === a && row[other] === b))
            .map((b) => JSON.stringify({ [one]: a, [other]: b })),
        ),
      ),
  );
}

describe("covering array", () => {
  it("every two choices of the sandbox occur together, in few rows", () => {
    const rows = coverPairs(variants);
    expect(missingPairs(variants, rows)).toEqual([]);
    const [most = 0, second = 0] = Object.values(variants)
      .map(({ length }) => length)
      .sort((a, b) => b - a);
    expect(rows.length).toBeGreaterThanOrEqual(most * second);
    expect(rows.length).toBeLessThanOrEqual(2 * most * second);
    expect(coverPairs(variants)).toEqual(rows);
  });

  it("every two values occur together, whatever the parameters are", () => {
    const parameters = fc.dictionary(
      fc.string({ minLength: 1, maxLength: 3 }),
      fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 4 }),
      { minKeys: 2, maxKeys: 6, noNullPrototype: true },
    );
    fc.assert(
      fc.property(parameters, (some) => {
        const rows = coverPairs(some);
        expect(missingPairs(some, rows)).toEqual([]);
        for (const row of rows) expect(Object.keys(row)).toEqual(Object.keys(some));
      }),
    );
  });
});
