/** `/`: what is held, how fresh it is, and what happened last. */
import { html } from "hono/html";
import { describeCoverage } from "../../mirror/runs/describe-coverage.ts";
import { listRuns, type RunRecord } from "../../mirror/runs/run-log.ts";
import { formatAge } from "../../presentation/durations.ts";
import { formatNumber, formatPercent } from "../../presentation/numbers.ts";
import { formatMinute } from "../../presentation/times.ts";
import { formatKind } from "../../presentation/words.ts";
import { readResourceKeys } from "../../query/lists/resource-keys.ts";
import type { KindStatus } from "../../query/status/kind-status.ts";
import { chartFigure } from "../charts/figure.ts";
import { agesChart, coverageChart, requestsChart } from "../charts/mirror-charts.ts";
import type { Html, Page, View } from "../page.ts";
import { table } from "../parts/lists/table.ts";
import { live } from "../parts/live.ts";
import { hasProblem, lastAndNext } from "../parts/runs/last-and-next.ts";
import { runLink } from "../parts/runs/run-link.ts";
import { resultInList } from "../parts/runs/run-result.ts";
import { runUnderWay } from "../parts/runs/run-under-way.ts";
import { searchForm } from "../parts/search-form.ts";
import { empty } from "../parts/states.ts";
import { none, resourceLink, timeOf } from "../parts/values.ts";

const shownKinds = ["brand", "model", "size"];
const maxRuns = 8;

export const homePage: Page = {
  path: "/",
  render(view) {
    const body = html`<h1 class="visually-hidden">Armoire</h1>
${searchForm(view, "", true)}
<div id="results" aria-live="polite"></div>
${live(view, "held", "mirror", held(view))}
${charts(view)}
<div class="columns even">
<section aria-labelledby="changes"><h2 id="changes">Newest changes of the catalogue</h2>${live(view, "newest", "mirror", changes(view))}<p class="more"><a href="${view.link("/changes")}">All changes</a></p></section>
<section aria-labelledby="runs"><h2 id="runs">Last runs of the catalogue</h2>${live(view, "last", "mirror", runs(view))}<p class="more"><a href="${view.link("/runs")}">All runs</a> · <a href="${view.link("/plan")}">Plan</a></p></section>
</div>`;
    return { title: "", body };
  },
};

function held(view: View): Html {
  const { now } = view;
  const { kinds } = view.slow("kinds");
  const coverage = view.slow("coverage");
  const shown = shownKinds.flatMap((kind) => kinds.filter((one) => one.kind === kind));
  const running = runUnderWay(view);
  // What needs attention comes before what is fine.
  const isProblemFirst = running === null && hasProblem(view);
  return html`<section aria-labelledby="what-is-held"><h2 id="what-is-held" class="visually-hidden">What is held</h2>
${isProblemFirst ? html`<div class="problems">${lastAndNext(view)}</div>` : ""}
<ul class="figures">${shown.map((kind) => figure(kind, now))}</ul>
${
  running ??
  html`<p class="note${coverage.complete ? " whole" : ""}" role="note">${describeCoverage(coverage, formatMinute)}</p>
${isProblemFirst ? "" : lastAndNext(view)}`
}</section>`;
}

function figure({ kind, held: count, known, gone, p50CheckAt }: KindStatus, now: number): Html {
  const expected = known - gone;
  const freshness =
    p50CheckAt === null
      ? `none ${known === 0 ? "known" : "checked"} yet`
      : `half were checked within the last ${formatAge(p50CheckAt, now)}`;
  return html`
<li><h3>${formatKind(kind)}s</h3>
<p class="big"><span class="number">${formatNumber(count)}</span> ${known === 0 ? "" : html`<span class="muted">of ${formatNumber(expected)}</span>`}</p>
<progress max="${Math.max(1, expected)}" value="${count}" aria-label="Held ${kind}s">${formatPercent(expected === 0 ? 0 : count / expected)}</progress>
<p class="hint">${freshness}${gone === 0 ? "" : html` · ${formatNumber(gone)} gone`}</p></li>`;
}

/** Of the present only: the allowance and the plan have no past. */
function charts(view: View): Html | string {
  const { mirror, now } = view;
  if (view.asOf !== undefined || mirror.identity.area !== "catalogue") return "";
  const days = view.slow("days");
  const ages = view.slow("ages");
  const { forecast, allowance } = view.slow("forecast");
  const shown = [
    ...(forecast === null ? [] : [coverageChart(days, forecast, now)]),
    ...(days.some(({ counted }) => counted > 0)
      ? [requestsChart(days, forecast?.limit ?? allowance?.limit ?? null, now)]
      : []),
    agesChart(ages),
  ];
  return html`<section aria-labelledby="progress"><h2 id="progress" class="visually-hidden">Progress</h2>
<div class="charts">${shown.map(chartFigure)}</div></section>`;
}

const signs = { new: "+", changed: "~", gone: "−" } as const;

function changes(view: View): Html {
  const { mirror } = view;
  const latest = view.slow("newest changes");
  if (latest.length === 0) return empty("Nothing is stored yet.");
  const keys = readResourceKeys(
    mirror,
    latest.map(({ href }) => href),
  );
  return html`<ol class="feed">${latest.map(
    ({ kind, href, name, of, what, at, run }, n) => html`${
      latest[n - 1]?.run === run ? "" : html`<li class="run">Run ${run}, ${timeOf(at)}</li>`
    }
<li class="${what}"><span class="sign" aria-hidden="true">${signs[what]}</span><span class="what">${resourceLink(
      view,
      keys.get(href),
      name,
    )}${of === null ? "" : html`<span class="muted"><bdi>${of}</bdi></span>`}</span><span class="at">${formatKind(kind)} ${what}</span></li>`,
  )}</ol>`;
}

function runs(view: View): Html {
  const all = listRuns(view.mirror, maxRuns);
  if (all.length === 0) return empty("No run yet.");
  return table({
    caption: "Last runs",
    columns: [
      { label: "Run" },
      { label: "Began" },
      { label: "Result" },
      { label: "New", isNumber: true },
      { label: "Changed", isNumber: true },
      { label: "Gone", isNumber: true, isMinor: true },
    ],
    rows: all.map((run) => [runLink(view, run), timeOf(run.startedAt), resultInList(run), ...countsOf(run)]),
  });
}

function countsOf({ counts }: RunRecord): (Html | string)[] {
  if (counts === null) return [none(), none(), none()];
  const { new: added, changed, gone } = counts.resources;
  return [added, changed, gone].map((count) => formatNumber(count));
}
