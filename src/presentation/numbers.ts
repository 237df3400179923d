/** Numbers for people. */

/** With separators from five digits on: shorter numbers may be years. */
export function formatNumber(number: number | bigint): string {
  return isLargeNumber(number) ? formatLongNumber(number) : String(number);
}

/** With separators, whatever its size: for a column in which one number is large. */
export const formatLongNumber = (number: number | bigint): string => number.toLocaleString("en-US");

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
