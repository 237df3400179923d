/** What is left of the allowances today, as coordinators have published it, and what each day has cost. */
import { html } from "hono/html";
import type { AllowanceOverview } from "../../../../jobs/bullmq/operators/overview.ts";
import { toIso } from "../../../platform/clock.ts";
import { formatNumber } from "../../../presentation/numbers.ts";
import { formatMoment } from "../../../presentation/times.ts";
import { chartFigure } from "../../charts/figure.ts";
import { requestsChart } from "../../charts/mirror-charts.ts";
import type { Html, SharedView } from "../../page.ts";
import { table } from "../lists/table.ts";
import { empty } from "../states.ts";
import { numberOf, timeOf } from "../values.ts";

export function allowancesOf(view: SharedView, allowances: readonly AllowanceOverview[]): Html {
  const { mirror, now } = view;
  if (allowances.length === 0) return empty("No coordinator has published its allowance in the last week.");
  const own = allowances.find(({ principal }) => principal === "catalogue");
  const days = mirror === null ? [] : view.slow("days");
  return html`<div class="columns">${table({
    caption: "Allowances",
    columns: [
      { label: "Of" },
      { label: "Left", isNumber: true },
      { label: "Allowance", isNumber: true },
      { label: "Renewed" },
      { label: "Known since", isMinor: true },
    ],
    rows: allowances.map(({ principal, service, limit, remaining, resetAt, updatedAt }) => {
      const isOver = resetAt !== null && resetAt <= now;
      return [
        html`<bdi>${principal}</bdi> <span class="muted">${service}</span>`,
        isOver && limit !== null ? formatNumber(limit) : numberOf(remaining),
        limit === null ? "unknown" : formatNumber(limit),
        resetAt === null ? "unknown" : isOver ? "since" : formatMoment(toIso(resetAt), now),
        updatedAt === null ? "" : timeOf(toIso(updatedAt)),
      ];
    }),
  })}<div class="charts">${chartFigure(requestsChart(days, own?.limit ?? null, now))}</div></div>`;
}
