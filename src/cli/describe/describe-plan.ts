/** A plan in words. */
import type { AccountForecast } from "../../sync/plan/forecast-account.ts";
import type { Order, Reason } from "../../sync/plan/plan-request.ts";
import type { LinkedCataloguePlan } from "../../sync/plan-linked-catalogue.ts";
import type { SyncPlan } from "../../sync/plan-sync.ts";
import { formatDays, formatMoment } from "../terminal/spoken-time.ts";
import { formatTable } from "../terminal/text-table.ts";
import { chartCoverage, describeSweep, tabulateDays } from "./describe-forecast.ts";

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
  sweep: "not checked for longer than --sweep",
  expected: "checked for free where changes are likely",
  account: "an account is checked whole in every run",
  verify: "--mode verify checks everything",
  full: "--mode full fetches everything anew",
};

/**
 * @param order what the plan was made with
 * @param now epoch milliseconds
 */
export function describePlan(plan: SyncPlan, order: Order, now: number): string {
  const { mirror, due, next, forecast } = plan;
  const parts = [`Mirror     ${mirror}\nAllowance  ${describeAllowance(plan.allowance, now)}\n`];
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
      `\n${describeSweep(forecast)}\n`,
      `\nShare of all bras covered, in the order of value at ${forecast.requestsPerDay} a day\n${chartCoverage(forecast)}`,
    );
  }
  return parts.join("");
}

/** After the plan of the account itself. @param plan null before its first sync */
export function describeLinkedPlan(plan: LinkedCataloguePlan | null): string {
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
export function describeAllowance(allowance: SyncPlan["allowance"], now: number): string {
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
