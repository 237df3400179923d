/**
 * A number as JSON and CSV write it, such that `Number(text)` (or `BigInt(text)`) gives the same value again: -0 keeps
 * its sign, and an infinity, for which JSON has no word, is a numeral beyond the range of a double. NaN cannot be
 * stored by SQLite and is not expected.
 */
export function numberText(value: number | bigint): string {
  if (Object.is(value, -0)) return "-0";
  if (value === Number.POSITIVE_INFINITY) return "1e999";
  if (value === Number.NEGATIVE_INFINITY) return "-1e999";
  return String(value);
}
