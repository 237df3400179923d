/** `/plan`: what the next sync would request, what it costs, and how long the mirror takes to be complete. */
import { html } from "hono/html";
import { formatDays } from "../../../presentation/durations.ts";
import { formatNumber } from "../../../presentation/numbers.ts";
import { formatKind } from "../../../presentation/words.ts";
import { readResourceNames } from "../../../query/lists/owner-names.ts";
import { readResourceKeys } from "../../../query/lists/resource-keys.ts";
import {
  describeAllowance,
  describeConfirmation,
  describeMaxStaleness,
  describePostponed,
  describeReach,
  describeReason,
  describeTomorrow,
} from "../../../sync/describe-plan.ts";
import { documentedAllowances, type Forecast } from "../../../sync/plan/forecast.ts";
import type { SyncPlan } from "../../../sync/plan/preview.ts";
import { chartFigure } from "../../charts/figure.ts";
import { coverageChart } from "../../charts/mirror-charts.ts";
import type { Html, Page, View } from "../../page.ts";
import { table } from "../../parts/lists/table.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { empty } from "../../parts/states.ts";
import { resourceLink } from "../../parts/values.ts";

export const planPage: Page = {
  path: "/plan",
  render(view) {
    const isPast = view.asOf !== undefined;
    const body = html`${sectionTabs(view, "runs")}
<h1>Plan</h1>
${isPast ? empty("A plan is of the present: the allowance and what is due have no past.") : planOf(view, readPlan(view))}`;
    return { title: "Plan", body, hasRows: !isPast };
  },
  rows(view) {
    const plan = readPlan(view);
    return {
      name: "plan",
      columns: ["kind", "key", "url", "reason"],
      rows: () => plan.next.map(({ kind, key, url, reason }) => [kind, key, url, reason]),
      document: plan,
    };
  },
};

const readPlan = (view: View): SyncPlan => view.slow("plan");

function planOf(view: View, plan: SyncPlan): Html {
  const { due, next, forecast, postponed } = plan;
  const confirmation = describeConfirmation(plan.confirmation);
  const tomorrow = describeTomorrow(plan);
  const facts = [
    ["allowance", describeAllowance(plan.allowance, view.now)],
    ...(next.length === 0 ? [] : [["today", describeReach(plan)]]),
    ...(tomorrow === "" ? [] : [["tomorrow", `the sync is expected to make ${tomorrow}`]]),
    ...(postponed.length === 0 ? [] : [["postponed", describePostponed(postponed, view.now)]]),
    ...(confirmation === "" ? [] : [["snapshots", confirmation]]),
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<div class="columns"><div>${forecast === null ? "" : timesOf(forecast)}
<section aria-labelledby="due"><h2 id="due">Due now</h2>${due.length === 0 ? empty("Nothing is due.") : dueTable(due)}</section></div>
${forecast === null ? "" : chartOf(view, forecast)}</div>
${next.length === 0 ? "" : html`<section aria-labelledby="next"><h2 id="next">The next requests</h2>${nextTable(view, next)}</section>`}
${forecast === null ? empty("The size of the catalogue and the time it takes are known after the first sync.") : ""}`;
}

function chartOf(view: View, forecast: Forecast): Html {
  const days = view.slow("days");
  return html`<div class="charts">${chartFigure(coverageChart(days, forecast, view.now))}</div>`;
}

function timesOf(forecast: Forecast): Html {
  const { depths, limit } = forecast;
  const { withApp, withNone } = documentedAllowances;
  const shown = (days: number) => (days === 0 ? "done" : formatDays(days));
  return html`<section aria-labelledby="times"><h2 id="times">Estimated time until the mirror is complete</h2>
${table({
  caption: "Time until the mirror is complete",
  columns: [
    { label: "Up to" },
    { label: "Requests", isNumber: true },
    ...(limit === null ? [] : [{ label: `At your ${formatNumber(limit)} a day`, isNumber: true }]),
    { label: `With app key (${withApp})`, isNumber: true, isMinor: limit !== null },
    { label: `Without (${withNone})`, isNumber: true, isMinor: limit !== null },
  ],
  rows: depths.map(({ depth, remainingRequests, days }) => [
    depth,
    formatNumber(remainingRequests),
    ...(days.atLimit === null ? [] : [shown(days.atLimit)]),
    shown(days.withApp),
    shown(days.withNone),
  ]),
})}
<p class="hint">${describeMaxStaleness(forecast)}</p></section>`;
}

const dueTable = (due: SyncPlan["due"]): Html =>
  table({
    caption: "Due resources",
    columns: [
      { label: "Kind" },
      { label: "To fetch", isNumber: true },
      { label: "To check, free", isNumber: true },
      { label: "To check, counted", isNumber: true },
    ],
    rows: due.map(({ kind, fetch, check, freeChecks }) => [
      formatKind(kind),
      ...[fetch, freeChecks, check - freeChecks].map((count) => formatNumber(count)),
    ]),
  });

function nextTable(view: View, next: SyncPlan["next"]): Html {
  const urls = next.map(({ url }) => url);
  const keys = readResourceKeys(view.mirror, urls);
  const names = readResourceNames(view.mirror, urls);
  return table({
    caption: "Next requests",
    columns: [{ label: "Resource" }, { label: "Kind", isMinor: true }, { label: "Why" }],
    rows: next.map(({ kind, key, reason, url }) => {
      const { name = null, of = null } = names.get(url) ?? {};
      const part = name === null || of === null ? "" : html` <span class="muted"><bdi>${of}</bdi></span>`;
      return [
        html`${resourceLink(view, keys.get(url), name ?? of ?? key ?? url)}${part}`,
        formatKind(kind),
        describeReason(reason, "value"),
      ];
    }),
  });
}
