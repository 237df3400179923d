export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param share from 0 to 1: 0.99 is the 99th percentile */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
