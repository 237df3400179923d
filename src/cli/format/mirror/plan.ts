/** Formats a plan and a forecast for people: plain text. */
import { depths as allDepths, type Depth } from "../../../../schema/kind.ts";
import type { LinkedCataloguePlan } from "../../../mirror/account/catalogue-links.ts";
import { formatDays, formatDuration } from "../../../presentation/durations.ts";
import { formatNumber, formatPercent } from "../../../presentation/numbers.ts";
import { formatKind } from "../../../presentation/words.ts";
import {
  describeAllowance,
  describeConfirmation,
  describeMaxStaleness,
  describePostponed,
  describeReach,
  describeReason,
  describeTomorrow,
} from "../../../sync/describe-plan.ts";
import { type AccountForecast, documentedAllowances, type Forecast } from "../../../sync/plan/forecast.ts";
import type { OwedChecks } from "../../../sync/plan/owed-checks.ts";
import type { SyncPlan } from "../../../sync/plan/preview.ts";
import type { Order } from "../../../sync/plan/request.ts";
import type { Screen } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { formatTable } from "../../terminal/table/text-table.ts";

/**
 * @param order the order of the plan
 * @param now epoch milliseconds
 * @param screen the terminal; null without one
 */
export function formatPlan(
  plan: SyncPlan,
  order: Order,
  now: number,
  screen: Pick<Screen, "columns"> | null = null,
): string {
  const { mirror, due, next, forecast } = plan;
  const parts = [`Mirror     ${mirror}\nAllowance  ${describeAllowance(plan.allowance, now)}\n`];
  if (plan.refusal !== undefined) parts.push(`Refused    ${escapeControls(plan.refusal)}\n`);
  if (plan.postponed.length > 0) parts.push(`Postponed  ${describePostponed(plan.postponed, now)}\n`);
  const confirmation = describeConfirmation(plan.confirmation);
  if (confirmation !== "") parts.push(`Snapshots  ${confirmation}\n`);
  if (next.length > 0) parts.push(`Today      ${describeReach(plan)}\n`);
  const tomorrow = describeTomorrow(plan);
  if (tomorrow !== "") parts.push(`Tomorrow   ${tomorrow}\n`);
  if (next.length === 0) parts.push("\nNothing is due.\n");
  else {
    parts.push(
      `\n${formatTable(["due", "to fetch", "to check, free", "to check, counted"], due.map(toDueRow), screen)}`,
      `\n${formatTable(
        ["next", "why", "key or URL"],
        next.map(({ kind, key, reason, url }) => [
          formatKind(kind),
          describeReason(reason, order),
          key ?? url,
        ]),
        screen,
      )}`,
    );
  }
  if (plan.accountForecast !== null) return parts.join("") + describeAccount(plan.accountForecast);
  if (forecast === null) {
    parts.push("\nThe size of the catalogue and the time it takes are known after the first sync.\n");
  } else {
    const isFetched = forecast.depths.every(({ remainingRequests }) => remainingRequests === 0);
    if (!isFetched)
      parts.push(`\nEstimated time until the mirror is complete\n${tabulateDays(forecast, screen)}`);
    parts.push(`\n${describeMaxStaleness(forecast)}\n`);
    if (formatPercent(shareNow(forecast.coverage)) !== "100 %")
      parts.push(
        `\nShare of users' bras whose models are held (--order value, ${formatNumber(forecast.requestsPerDay)} requests a day)\n${chartCoverage(forecast)}`,
      );
  }
  return parts.join("");
}

/** The plan of the linked catalogue resources. @param plan null before the first sync of the account */
export function formatLinkedPlan(plan: LinkedCataloguePlan | null): string {
  const known = plan?.due.reduce((sum, { fetch }) => sum + fetch, 0);
  const kinds = plan?.due.map(({ kind, fetch }) => `${fetch} ${kind}${fetch === 1 ? "" : "s"}`).join(", ");
  const state =
    known === undefined
      ? "known after the first sync"
      : known === 0
        ? "all held"
        : `${known} known to fetch (${kinds}), from the catalogue's own allowance`;
  return `\nLinked resources in the catalogue's mirror: ${state}.\n`;
}

function toDueRow({ kind, fetch, check, freeChecks }: SyncPlan["due"][number]): unknown[] {
  return [formatKind(kind), fetch, freeChecks, check - freeChecks];
}

/** One line, once all lists are read. */
function describeAccount({ isWhole, days, requestsPerDay }: AccountForecast): string {
  if (!isWhole || !days || requestsPerDay === null) return "";
  return `\nTime until the mirror is complete: about ${formatDays(days)} at ${formatNumber(requestsPerDay)} requests a day.\n`;
}

/** One line with the command that makes the checks; empty if none is owed. */
export function formatOwedChecks(owed: OwedChecks | null): string {
  if (owed === null || owed.due + owed.leftOut === 0) return "";
  const { due, leftOut, seconds } = owed;
  const parts = [
    ...(due > 0 ? [`${due} ${due === 1 ? "check is" : "checks are"} due`] : []),
    ...(leftOut > 0 ? [`${leftOut} ${leftOut === 1 ? "was" : "were"} left out by the last sync`] : []),
  ];
  const command = `armoire sync --max-free-checks ${due + leftOut}`;
  return `${parts.join(", ")}; \`${command}\` makes them, in about ${formatDuration(seconds)}.\n`;
}

const shareNow = ({ after }: Forecast["coverage"]): number => after[0]?.share ?? 0;

/** The forecast in one line. @param depth the depth of the sync */
export function summarizeForecast({ depths, coverage, requestsPerDay }: Forecast, depth: Depth): string {
  const { covered, expected, after } = coverage;
  const [models, sizes] = ["model", "size"].map((name) =>
    depths.flatMap(({ kinds }) => kinds).find(({ kind }) => kind === name),
  );
  const hasModels = covered >= expected && (models === undefined || models.held >= models.expected);
  const missesSizes = depth === "sizes" && hasModels && sizes && sizes.held < sizes.expected;
  // Brands that are not listed yet are estimated.
  const about = covered < expected ? "about " : "";
  // Bras are counted by their models, so all of them are covered long before all sizes are held.
  const now = missesSizes
    ? `All models are held, and ${sizes.held} of about ${sizes.expected} sizes`
    : `The mirror holds the models of ${about}${formatPercent(shareNow(coverage))} of all users' bras`;
  const days = ({ remainingRequests }: { readonly remainingRequests: number }) =>
    formatDays(Math.ceil(remainingRequests / requestsPerDay));
  // Brands and models are fetched together, so all brands are complete no sooner than all models.
  const ends = depths
    .slice(depth === "brands" ? 0 : 1, allDepths.indexOf(depth) + 1)
    .filter(({ remainingRequests }) => remainingRequests > 0)
    .map((end) => `all ${end.depth} in ${days(end)}`);
  if (ends.length === 0) return `${now}, and is complete.`;
  const milestones = after.filter(({ day }) => [1, 7, 30].includes(day));
  const shares = milestones
    .filter(() => depth !== "brands" && covered < expected)
    .filter((_, n) => formatPercent(milestones[n - 1]?.share ?? 0) !== "100 %")
    .map(({ day, share }) => `${formatPercent(share)} in ${formatDays(day)}`);
  return `${[now, ...shares].join(", ")}; ${ends.join(", ")}, at ${formatNumber(requestsPerDay)} requests a day.`;
}

/** Requests and days until each depth is complete, at this allowance and at the documented ones. */
export function tabulateDays(
  { depths, limit }: Forecast,
  screen: Pick<Screen, "columns"> | null = null,
): string {
  const { withApp, withNone } = documentedAllowances;
  const own = limit === null ? [] : [`at ${formatNumber(limit)} a day`];
  const columns = ["up to", "requests", ...own, `with app key (${withApp})`, `without (${withNone})`];
  const shown = (days: number) => (days === 0 ? "done" : formatDays(days));
  const rows = depths.map(({ depth, remainingRequests, days }) => [
    depth,
    remainingRequests,
    ...(days.atLimit === null ? [] : [shown(days.atLimit)]),
    shown(days.withApp),
    shown(days.withNone),
  ]);
  return formatTable(columns, rows, screen);
}

const chartWidth = 40;

/** A bar chart of the share of all bras whose models are held after some days. */
export function chartCoverage({ coverage }: Forecast): string {
  return coverage.after
    .map(({ day, share }) => {
      const label = day === 0 ? "now" : formatDays(day);
      const bar = "█".repeat(Math.floor(share * chartWidth));
      return `${label.padEnd(7)}  ${formatPercent(share).padStart(5)}  ${bar}`.trimEnd();
    })
    .map((line) => `${line}\n`)
    .join("");
}

/** A warning if checks cannot keep up with --max-staleness; otherwise empty. */
export function warnOfStaleness(forecast: Forecast | null): string {
  if (forecast === null) return "";
  const { days, attainableDays } = forecast.maxStaleness;
  return attainableDays <= days ? "" : `${describeMaxStaleness(forecast)}\n`;
}
