/** A plan in words. */

import { depths as allDepths, type Depth } from "../../../schema/kind.ts";
import { type AccountForecast, documentedAllowances, type Forecast } from "../../sync/plan/forecast.ts";
import type { SyncPlan } from "../../sync/plan/preview.ts";
import type { Order, Reason } from "../../sync/plan/request.ts";
import type { LinkedCataloguePlan } from "../../sync/sync-account.ts";
import { formatDays, formatMoment } from "../terminal/format.ts";
import { formatTable } from "../terminal/text-table.ts";

const reasonsOfNew: Readonly<Record<Order, string>> = {
  value: "never fetched, and worth most next",
  breadth: "never fetched, and next of its level",
  depth: "never fetched, and next of its brand",
};

const reasons: Readonly<Record<Exclude<Reason, "new">, string>> = {
  root: "the front page is looked at once a day",
  again: "asked again, to see whether it is gone",
  listing: "leads to others, and shows what changed",
  suspect: "what it belongs to has changed",
  stale: "not checked for longer than --max-staleness",
  expected: "checked for free where changes are likely",
  account: "an account is checked whole in every run",
  verify: "--mode verify checks everything",
  full: "--mode full fetches everything anew",
};

/**
 * @param order what the plan was made with
 * @param now epoch milliseconds
 */
export function formatPlan(plan: SyncPlan, order: Order, now: number): string {
  const { mirror, due, next, forecast } = plan;
  const parts = [`Mirror     ${mirror}\nAllowance  ${formatAllowance(plan.allowance, now)}\n`];
  if (next.length === 0) parts.push("\nNothing is due.\n");
  else {
    parts.push(
      `Today      ${describeReach(plan)}\n`,
      `\n${formatTable(["due", "to fetch", "to check, free", "to check, counted"], due.map(toDueRow))}`,
      `\n${formatTable(
        ["next", "why", "url"],
        next.map(({ kind, reason, url }) => [
          kind,
          reason === "new" ? reasonsOfNew[order] : reasons[reason],
          url,
        ]),
      )}`,
    );
  }
  if (plan.accountForecast !== null) return parts.join("") + describeAccount(plan.accountForecast, plan);
  if (forecast === null) {
    parts.push("\nHow large the catalogue is, and how long it takes, is known after the first sync.\n");
  } else {
    parts.push(
      `\nUntil everything is held, about\n${tabulateDays(forecast)}`,
      `\n${formatMaxStaleness(forecast)}\n`,
      `\nShare of all bras covered, in the order of value at ${forecast.requestsPerDay} a day\n${chartCoverage(forecast)}`,
    );
  }
  return parts.join("");
}

/** After the plan of the account itself. @param plan null before its first sync */
export function formatLinkedPlan(plan: LinkedCataloguePlan | null): string {
  const known = plan?.due.reduce((sum, { fetch }) => sum + fetch, 0);
  const kinds = plan?.due.map(({ kind, fetch }) => `${fetch} ${kind}${fetch === 1 ? "" : "s"}`).join(", ");
  const what =
    known === undefined
      ? "known after the first sync"
      : known === 0
        ? "all that the bras link to is held"
        : `${known} to fetch (${kinds}) as far as is known, of the catalogue's own allowance`;
  return `\nWhat the bras are, in the catalogue's mirror: ${what}.\n`;
}

/** @param now epoch milliseconds */
export function formatAllowance(allowance: SyncPlan["allowance"], now: number): string {
  if (allowance === null) return "not known before the next sync";
  if (allowance.remaining === null) return "not told by the service";
  const { limit, remaining, resetAt } = allowance;
  const renewal = resetAt === null ? "" : `, renewed at ${formatMoment(resetAt, now)}`;
  return `${remaining} left${limit === null ? "" : ` of ${limit} a day`}${renewal}`;
}

function toDueRow({ kind, fetch, check, freeChecks }: SyncPlan["due"][number]): unknown[] {
  return [kind, fetch, freeChecks, check - freeChecks];
}

/** What the catalogue has a table for is one line here, once all lists are read. */
function describeAccount({ isWhole, days }: AccountForecast, { allowance }: SyncPlan): string {
  if (!isWhole || !days) return "";
  return `\nUntil everything is held, about ${formatDays(days)} at ${allowance?.limit} a day.\n`;
}

function describeReach({ due, allowance, spendable, accountForecast }: SyncPlan): string {
  const cost = due.reduce((sum, { fetch, check, freeChecks }) => sum + fetch + check - freeChecks, 0);
  const known = `${cost} counted ${cost === 1 ? "request" : "requests"} due as far as is known`;
  if (accountForecast?.isWhole === false) return `${known}; more will be known after the first answers`;
  if (spendable === null || cost === 0) return known;
  const remaining = allowance?.remaining ?? null;
  if (remaining === 0) return `${known}; none of them before the allowance is renewed`;
  if (spendable === 0) return `${known}; none of them within --budget and --reserve`;
  const what = spendable === remaining ? "what is left" : "what this run may spend";
  return `${known}; ${what} reaches ${cost <= spendable ? "all of them" : `the first ${spendable}`}`;
}

/** A forecast in words, as a table of days and as a chart: plain text, the same on a terminal and in a pipe. */

/** What the next days bring, in one line. @param depth how far the sync goes */
export function summarizeForecast({ depths, coverage, requestsPerDay }: Forecast, depth: Depth): string {
  const { covered, expected, after } = coverage;
  const now = `${percent(covered / expected)} of all bras are covered`;
  const days = ({ requestsLeft }: { readonly requestsLeft: number }) =>
    formatDays(Math.ceil(requestsLeft / requestsPerDay));
  // Brands and models come together, so all brands are there no sooner than all models.
  const ends = depths
    .slice(depth === "brands" ? 0 : 1, allDepths.indexOf(depth) + 1)
    .filter(({ requestsLeft }) => requestsLeft > 0)
    .map((end) => `all ${end.depth} in ${days(end)}`);
  if (ends.length === 0) return `${now}, and everything is held.`;
  const shares = after
    .filter(({ day }) => [1, 7, 30].includes(day) && depth !== "brands" && covered < expected)
    .map(({ day, share }) => `${percent(share)} in ${formatDays(day)}`);
  return `${[now, ...shares].join(", ")}; ${ends.join(", ")}, at ${requestsPerDay} a day.`;
}

/** Requests and days until everything of each depth is held, at this allowance and at others. */
export function tabulateDays({ depths, limit }: Forecast): string {
  const { withApp, withNone } = documentedAllowances;
  const own = limit === null ? [] : [`at your ${limit} a day`];
  const columns = ["up to", "requests", ...own, `with app (${withApp})`, `without (${withNone})`];
  const shown = (days: number) => (days === 0 ? "done" : formatDays(days));
  const rows = depths.map(({ depth, requestsLeft, days }) => [
    depth,
    requestsLeft,
    ...(days.atLimit === null ? [] : [shown(days.atLimit)]),
    shown(days.withApp),
    shown(days.withNone),
  ]);
  return formatTable(columns, rows);
}

const chartWidth = 40;

/** The share of all bras that is covered after some days. */
export function chartCoverage({ coverage }: Forecast): string {
  return coverage.after
    .map(({ day, share }) => {
      const label = day === 0 ? "now" : formatDays(day);
      const bar = "█".repeat(Math.floor(share * chartWidth));
      return `${label.padEnd(7)}  ${percent(share).padStart(5)}  ${bar}`.trimEnd();
    })
    .map((line) => `${line}\n`)
    .join("");
}

/** Whether nothing held gets older than it should. */
export function formatMaxStaleness({ maxStaleness }: Forecast): string {
  const { days, attainableDays } = maxStaleness;
  const wanted = formatDays(days);
  return attainableDays <= days
    ? `Everything held can be checked within ${formatDays(attainableDays)}, so that nothing need get older than ${wanted} (--max-staleness).`
    : `Everything held can be checked within ${formatDays(attainableDays)}, not within ${wanted} (--max-staleness): give it more days, or more free checks a run (--max-free-checks).`;
}

/** Rounded down: nothing is complete before it is. */
function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
