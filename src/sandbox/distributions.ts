/** The catalogue's heavy-tailed distributions: few big brands and many small ones. */

/** Models per brand: Zipf's law, weight 1 / rank^1.1. */
export const modelsPerBrandExponent = 1.1;
/** Sizes per model: Pareto, shape 1.5, cut off at 20 times the smallest. */
export const sizesPerModelTail = { shape: 1.5, most: 20 };
/** Popularity of a brand: Pareto, shape 0.8, cut off at 50. It multiplies the owners of all its models. */
export const brandPopularityTail = { shape: 0.8, most: 50 };
/** Bras per size of a brand with popularity 1: Pareto, shape 1.3, cut off at 500, minus 1 so that some have none. */
export const brasPerSizeTail = { shape: 1.3, most: 500 };

/** Weights of `ranks` ranks, in descending order. */
export function zipfWeights(ranks: number, exponent: number): number[] {
  return Array.from({ length: ranks }, (_, index) => (index + 1) ** -exponent);
}

/**
 * The quantile function of a Pareto distribution with minimum 1 and a cut-off.
 * @param share in [0, 1)
 */
export function paretoQuantile(share: number, { shape, most }: { shape: number; most: number }): number {
  return Math.min(most, (1 - share) ** (-1 / shape));
}

/** Integer parts of `total` in proportion to the weights, by largest remainder; their sum is exactly `total`. */
export function apportion(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((left, right) => left + right, 0);
  const shares = weights.map((weight) => (total * weight) / sum);
  const parts = shares.map(Math.floor);
  let left = total - parts.reduce((some, part) => some + part, 0);
  const byRemainder = shares
    .map((share, index) => ({ index, remainder: share % 1 }))
    .sort((one, other) => other.remainder - one.remainder || one.index - other.index);
  for (const { index } of byRemainder) {
    if (left-- <= 0) break;
    parts[index] = (parts[index] ?? 0) + 1;
  }
  return parts;
}
