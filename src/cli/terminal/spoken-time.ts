/** Times and spans as a person reads them. */

export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${tenths(seconds / 3600)} h`;
  return `${tenths(seconds / 86_400)} days`;
}

const steps = { minute: { millis: 60_000, letters: 16 }, second: { millis: 1000, letters: 19 } } as const;

export type Step = keyof typeof steps;

/**
 * A moment to come, not too early, and how far away it is.
 * @param moment ISO 8601, UTC
 * @param now epoch milliseconds
 * @param step by which it is told
 */
export function formatMoment(moment: string, now: number, step: Step = "minute"): string {
  const { millis } = steps[step];
  const later = new Date(Math.ceil(Date.parse(moment) / millis) * millis);
  const shown = formatTime(later.toISOString(), step);
  return `${shown} UTC (in ${formatDuration(Math.max(0, Date.parse(moment) - now) / 1000)})`;
}

/** @param moment ISO 8601, UTC; what is less than a step is left out */
export function formatTime(moment: string, step: Step): string {
  return moment.slice(0, steps[step].letters).replace("T", " ");
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
