import { expect, it } from "vitest";
import { formatBytes, formatCount, formatPercent } from "../../src/presentation/numbers.ts";

it.each([
  [0, "0 rows"],
  [1, "1 row"],
  [2026, "2026 rows"],
  [9999, "9999 rows"],
  [10_000, "10,000 rows"],
  [1_234_567, "1,234,567 rows"],
])("a count of %d has separators from five digits on", (count, text) => {
  expect(formatCount(count, "row")).toBe(text);
});

it.each([
  [1, "100 %"],
  [0.9999, "99 %"],
  [0, "0 %"],
])("the share %d is rounded down", (share, text) => {
  expect(formatPercent(share)).toBe(text);
});

it.each([
  [512, "0.5 KiB"],
  [2 ** 20 - 1, "1024.0 KiB"],
  [2 ** 20, "1.0 MiB"],
])("%d bytes have a unit", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
