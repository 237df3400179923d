/** A forecast in words, as a table of days and as a chart: plain text, the same on a terminal and in a pipe. */
import { depths as allDepths, type Depth } from "../../../schema/kind.ts";
import { documentedAllowances, type Forecast } from "../../sync/plan/forecast-days.ts";
import { formatDays } from "../terminal/spoken-time.ts";
import { formatTable } from "../terminal/text-table.ts";

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
export function describeSweep({ sweep }: Forecast): string {
  const { days, attainableDays } = sweep;
  const wanted = formatDays(days);
  return attainableDays <= days
    ? `Everything held can be checked within ${formatDays(attainableDays)}, so that nothing need get older than ${wanted} (--sweep).`
    : `Everything held can be checked within ${formatDays(attainableDays)}, not within ${wanted} (--sweep): give it more days, or more free checks a run (--free).`;
}

/** Rounded down: nothing is complete before it is. */
function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
