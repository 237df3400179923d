/** Times and spans as a person reads them. */

export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${tenths(seconds / 3600)} h`;
  return `${tenths(seconds / 86_400)} days`;
}

/**
 * A moment to come, by the minute and not too early, and how far away it is.
 * @param moment ISO 8601, UTC
 * @param now epoch milliseconds
 */
export function formatMoment(moment: string, now: number): string {
  const minute = new Date(Math.ceil(Date.parse(moment) / 60_000) * 60_000);
  const shown = minute.toISOString().slice(0, 16).replace("T", " ");
  return `${shown} UTC (in ${formatDuration(Math.max(0, Date.parse(moment) - now) / 1000)})`;
}

/** @param since ISO 8601, UTC; null for never. @param now epoch milliseconds */
export function formatAge(since: string | null, now: number): string {
  return since === null ? "" : formatDuration(Math.max(0, now - Date.parse(since)) / 1000);
}

export function formatDays(days: number): string {
  return days === 1 ? "1 day" : `${days} days`;
}

function tenths(number: number): number {
  return Math.round(number * 10) / 10;
}
