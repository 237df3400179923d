/** A plan in words, for the terminal and for pages. */
import { formatDays, formatDuration, formatRate } from "../presentation/durations.ts";
import { formatCount, formatNumber } from "../presentation/numbers.ts";
import { formatMoment } from "../presentation/times.ts";
import type { Forecast } from "./plan/forecast.ts";
import type { SyncPlan } from "./plan/preview.ts";
import type { Order, Reason } from "./plan/request.ts";

const reasonsOfNew: Readonly<Record<Order, string>> = {
  value: "new, most valuable first",
  breadth: "new, next of its level",
  depth: "new, next of its brand",
};

const reasons: Readonly<Record<Exclude<Reason, "new">, string>> = {
  root: "the root is checked once a day",
  sample: "the sample of a snapshot is fetched whole",
  again: "checked again, because it may be gone",
  listing: "a list, which shows changes",
  suspect: "its parent or list has changed",
  stale: "not checked for longer than --max-staleness",
  unconfirmed: "free check of a body from a snapshot",
  expected: "free check of a likely change",
  account: "checked by each run",
  verify: "--mode verify checks everything",
  full: "--mode full fetches everything again",
};

export const describeReason = (reason: Reason, order: Order): string =>
  reason === "new" ? reasonsOfNew[order] : reasons[reason];

/** @param now epoch milliseconds */
export function describePostponed(postponed: SyncPlan["postponed"], now: number): string {
  const [first] = postponed.map(({ retryAt }) => retryAt).sort();
  const until = first === undefined ? "" : `, the first until ${formatMoment(first, now)}`;
  return `${formatCount(postponed.length, "resource")}, as the service asked for each alone${until}`;
}

/** @param now epoch milliseconds */
export function describeAllowance(allowance: SyncPlan["allowance"], now: number): string {
  if (allowance === null) return "unknown until the next sync";
  if (allowance.remaining === null) return "not reported by the service";
  const { limit, remaining, resetAt, windowSeconds } = allowance;
  const renewal = resetAt === null ? "" : `, renewed at ${formatMoment(resetAt, now)}`;
  return `${formatNumber(remaining)} left${limit === null ? "" : ` of ${formatRate(limit, windowSeconds)}`}${renewal}`;
}

/** Empty if nothing was loaded from a snapshot, or all of it is confirmed. */
export function describeConfirmation(plan: SyncPlan["confirmation"]): string {
  if (plan === undefined || plan.unconfirmed === 0) return "";
  const { bytes, validator, unconfirmed, sample, free, counted, seconds, syncs } = plan;
  const costs = [
    ...(sample > 0 ? [`${formatCount(sample, "counted request")} for the sample`] : []),
    ...(free > 0
      ? [
          `${formatCount(free, "free check")}, about ${formatDuration(seconds)}${syncs > 1 ? ` in ${formatNumber(syncs)} syncs` : ""}`,
        ]
      : []),
    ...(counted > 0 ? [`${formatCount(counted, "counted request")} without a usable validator`] : []),
  ];
  return `${formatNumber(unconfirmed)} of ${formatCount(bytes + validator + unconfirmed, "resource")} not confirmed: ${costs.join("; ")}`;
}

/** What is due, and how much of it the allowance covers. */
export function describeReach({ due, allowance, spendable, accountForecast }: SyncPlan): string {
  const cost = due.reduce((sum, { fetch, check, freeChecks }) => sum + fetch + check - freeChecks, 0);
  const known = `${formatCount(cost, "counted request")} known to be due`;
  if (accountForecast?.isWhole === false) return `${known}; more are found while syncing`;
  if (spendable === null || cost === 0) return known;
  const remaining = allowance?.remaining ?? null;
  if (remaining === 0) return `${known}; the allowance is spent until it is renewed`;
  if (spendable === 0) return `${known}; --budget and --reserve allow none of them`;
  const means = spendable === remaining ? "the remaining allowance" : "this run's budget";
  return `${known}; ${means} covers ${cost <= spendable ? "all of them" : `the first ${spendable}`}`;
}

/** What the sync of the next day costs, after one today. Empty while the size of the catalogue is unknown. */
export function describeTomorrow({ forecast, spendable }: Pick<SyncPlan, "forecast" | "spendable">): string {
  const whole = forecast?.depths.at(-1);
  if (forecast === null || whole === undefined) return "";
  const { requestsPerDay, maxStaleness } = forecast;
  const left = Math.max(0, whole.remainingRequests - (spendable ?? requestsPerDay));
  const counted = (requests: number) => `about ${formatCount(requests, "counted request")}`;
  if (left >= requestsPerDay) return `${counted(requestsPerDay)}: all that the allowance grants in a day`;
  if (maxStaleness.secondsPerDay === null)
    return `${counted(requestsPerDay)}: checks are counted, and use what the allowance grants in a day`;
  if (left > 0) return `${counted(left)}: then all is held`;
  return "hardly any counted requests: all is held by then, and a check is counted only if it finds a change";
}

/** Longer checks a day are better made several at a time. */
const secondsOfChecksPerDay = 3600;
const maxConcurrency = 256;

/** Whether checks can keep up with --max-staleness. */
export function describeMaxStaleness({ maxStaleness }: Forecast): string {
  const { days, attainableDays, requiredPerDay, secondsPerDay } = maxStaleness;
  const maxAge = formatDays(days);
  const takes = `Checking everything takes ${formatDays(attainableDays)}`;
  if (attainableDays <= days) return `${takes}, within --max-staleness (${maxAge}).`;
  const tooLong = `${takes}, longer than --max-staleness (${maxAge})`;
  if (secondsPerDay === null)
    return `${tooLong}, since checks spend allowance: give --max-staleness ${attainableDays}d.`;
  const places = Math.min(maxConcurrency, Math.ceil(secondsPerDay / secondsOfChecksPerDay));
  const flags = `--max-free-checks ${requiredPerDay}${places > 1 ? ` --check-concurrency ${places}` : ""}`;
  return `${tooLong}: give a daily sync ${flags}, which takes about ${formatDuration(secondsPerDay / places)}, or give --max-staleness ${attainableDays}d.`;
}
