/** `/runs`: the run log, the newest run first. */
import { html } from "hono/html";
import type { Row } from "../../../../exports/formats/table.ts";
import { countRuns, listRuns, type RunRecord } from "../../../mirror/runs/run-log.ts";
import { formatDuration } from "../../../presentation/durations.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import type { Html, Page, View } from "../../page.ts";
import { type Column, pager, table } from "../../parts/lists/table.ts";
import { live } from "../../parts/live.ts";
import { runLink } from "../../parts/runs/run-link.ts";
import { pageEnd, pagePlace } from "../../parts/runs/run-place.ts";
import { resultInList, resultOf } from "../../parts/runs/run-result.ts";
import { runUnderWay } from "../../parts/runs/run-under-way.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { empty } from "../../parts/states.ts";
import { none, numberOf, timeOf } from "../../parts/values.ts";

const pageSize = 50;

export const runsPage: Page = {
  path: "/runs",
  navigation: "Runs",
  render(view) {
    const body = html`${sectionTabs(view, "runs")}
<h1>Runs of the catalogue</h1>
${live(view, "list", "mirror", html`${runUnderWay(view) ?? ""}${listOf(view)}`)}
<p class="hint">New, changed, gone and failed are numbers of resources, pages of lists included.</p>`;
    return { title: "Runs", body };
  },
  rows: (view) => ({ name: "runs", columns, rows: () => selectRuns(view, -1).map(rowOf) }),
};

/** Runs that sent no request repeat the state before them: they are shown on request. */
const withIdle = ({ query }: View) => query.get("idle") === "any";

const selectRuns = (view: View, limit: number): RunRecord[] =>
  listRuns(view.mirror, limit, withIdle(view), Math.min(pagePlace(view) ?? pageEnd(view), pageEnd(view)));

function listOf(view: View): Html {
  const found = selectRuns(view, pageSize + 1);
  const shown = found.slice(0, pageSize);
  const { all, idle } = countRuns(view.mirror, pageEnd(view));
  const total = withIdle(view) ? all : all - idle;
  const kept = { idle: view.query.get("idle") };
  return html`<p class="count">${formatCount(total, "run")}${idleNote(view, idle)}</p>
${shown.length === 0 ? empty("No run yet.") : table({ caption: "Runs", columns: headings, rows: shown.map((run) => cellsOf(view, run)) })}
${pager({
  shown: shown.length,
  total,
  noun: "run",
  isLater: pagePlace(view) !== null,
  firstHref: view.link(view.path, kept),
  nextHref: found.length > pageSize ? view.link(view.path, { ...kept, after: shown.at(-1)?.id }) : null,
})}`;
}

function idleNote(view: View, idle: number): Html | string {
  if (idle === 0) return "";
  return withIdle(view)
    ? html` · <a href="${view.link(view.path)}">Only those that sent a request or changed something</a>`
    : html` · <a href="${view.link(view.path, { idle: "any" })}">and ${formatCount(idle, "that sent no request", "that sent no request")}</a>`;
}

const headings: readonly Column[] = [
  { label: "Run" },
  { label: "Began" },
  { label: "Took", isNumber: true, isMinor: true },
  { label: "Mode", isMinor: true },
  { label: "Result" },
  { label: "Counted", isNumber: true, isMinor: true },
  { label: "Sent", isNumber: true, isMinor: true },
  { label: "New", isNumber: true },
  { label: "Changed", isNumber: true },
  { label: "Gone", isNumber: true },
  { label: "Failed", isNumber: true },
];

function cellsOf(view: View, run: RunRecord): readonly (Html | string)[] {
  const { startedAt, mode, error, prunedAt, counts } = run;
  const { requests, resources } = counts ?? {};
  return [
    runLink(view, run),
    timeOf(startedAt),
    durationOf(run, view.now),
    mode,
    html`${resultInList(run)}${prunedAt === null ? "" : html` <span class="tag">pruned</span>`}${
      error === null ? "" : html`<p class="hint"><bdi>${error}</bdi></p>`
    }`,
    ...[requests?.counted, requests?.sent].map((count) => numberOf(count ?? null)),
    ...[resources?.new, resources?.changed, resources?.gone, resources?.failed].map((count) =>
      numberOf(count ?? null),
    ),
  ];
}

/** So far, for one that runs. */
function durationOf({ startedAt, endedAt, state }: RunRecord, now: number): Html | string {
  if (state === "not-finished") return none();
  const end = endedAt === null ? now : Date.parse(endedAt);
  return formatDuration(Math.max(0, end - Date.parse(startedAt)) / 1000);
}

const columns = [
  ...["run", "started_at", "ended_at", "mode", "result", "requests_counted", "requests_sent"],
  ...["new", "changed", "gone", "failed", "error", "pruned_at"],
];

function rowOf(run: RunRecord): Row {
  const { id, startedAt, endedAt, mode, counts, error, prunedAt } = run;
  const { requests, resources } = counts ?? {};
  return [
    ...[id, startedAt, endedAt, mode, resultOf(run)],
    ...[requests?.counted ?? null, requests?.sent ?? null],
    ...[resources?.new ?? null, resources?.changed ?? null, resources?.gone ?? null],
    ...[resources?.failed ?? null, error, prunedAt],
  ];
}
