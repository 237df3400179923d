/** With so many requests left, their order makes no difference. */
const plentifulRequests = 5000;

/** @param budgetLeft counted requests that the run may still send; null for as many as there are */
export function isPlentiful(
  { remaining, isBoundless }: { readonly remaining: number | null; readonly isBoundless: boolean },
  budgetLeft: number | null,
): boolean {
  const granted = isBoundless ? Number.POSITIVE_INFINITY : (remaining ?? 0);
  return Math.min(granted, budgetLeft ?? granted) >= plentifulRequests;
}
