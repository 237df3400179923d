export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param share of the values that are at most the result */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
