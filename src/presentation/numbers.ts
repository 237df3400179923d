/** Numbers for people. */

/** With separators from five digits on: shorter numbers may be years. */
export function formatNumber(number: number | bigint): string {
  return isLargeNumber(number) ? formatLongNumber(number) : String(number);
}

/** With separators, whatever its size: for a column in which one number is large. */
export function formatLongNumber(number: number | bigint): string {
  const [, sign = "", digits] = String(number).match(/^(-?)(\d+)$/) ?? [];
  if (digits === undefined) return number.toLocaleString("en-US");
  // Without the formatter of Intl, which takes long to create.
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return sign + groups.join(",");
}

/** Of a cell: exact numbers beyond 64 bits are text. */
export const isWhole = (value: unknown): value is number | bigint =>
  typeof value === "bigint" || Number.isSafeInteger(value);

export const isLargeNumber = (number: number | bigint): boolean => number <= -10_000 || number >= 10_000;

export const formatCount = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatNumber(count)} ${count === 1 ? noun : plural}`;

export const formatRows = (rows: number): string => formatCount(rows, "row");

/** Rounded down, so that 100 % means complete. @param share from 0 to 1 */
export function formatPercent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 2 ** 20) return `${(bytes / 2 ** 10).toFixed(1)} KiB`;
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
