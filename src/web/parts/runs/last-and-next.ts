/** Whether the last run was all right, when the next one begins, and what is left to fetch. */
import { html } from "hono/html";
import { listRuns, type RunRecord } from "../../../mirror/runs/run-log.ts";
import { formatAge, formatDays } from "../../../presentation/durations.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatNext } from "../../../presentation/times.ts";
import type { Html, View } from "../../page.ts";
import { ownerOfRuns, runLink } from "./run-link.ts";
import { describeResult, isOrdinary, problemsOf, resultOf } from "./run-result.ts";
import { endedWell, late, outcomeAndAge } from "./scheduled-outcome.ts";

/** Whether the last run or a schedule needs attention. */
export function hasProblem(view: View): boolean {
  const [last] = listRuns(view.mirror, 1);
  if (view.asOf !== undefined || last === undefined) return false;
  return problemsOf(last).length > 0 || scheduleProblems(view) !== null;
}

/** Of the present only: the past has no next run. */
export function lastAndNext(view: View): Html | string {
  const [last] = listRuns(view.mirror, 1);
  if (view.asOf !== undefined || last === undefined) return "";
  const facts = [
    ["schedules", scheduleProblems(view)],
    ["next run", nextRun(view)],
    ["still to fetch", leftToFetch(view)],
  ] as const;
  return html`<p class="last-run">${lastRun(view, last)}</p><dl class="facts">${facts.map(([name, value]) =>
    value === null ? "" : html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

function lastRun(view: View, run: RunRecord): Html {
  const { counts, startedAt } = run;
  const problems = problemsOf(run);
  const verdict =
    problems.length > 0
      ? html`The last run was <strong class="mistake">not all right: ${problems.join(", ")}</strong>.`
      : run.state === "running"
        ? html`A run is <strong>under way</strong>.`
        : html`The last run was <strong>all right</strong>.`;
  const found =
    counts === null
      ? ""
      : `: ${formatNumber(counts.resources.new)} new, ${formatNumber(counts.resources.changed)} changed, ${formatNumber(counts.resources.gone)} gone`;
  const end = isOrdinary(run) && run.stopped !== null ? `; ${describeResult(resultOf(run))}` : "";
  return html`${verdict} Run ${runLink(view, run)} of ${ownerOfRuns(view)}, ${formatAge(startedAt, view.now)} ago${found}${end}.`;
}

/** A scheduled sync that could not begin has left no run. Null if all went well. */
function scheduleProblems(view: View): Html | null {
  const bad = (view.schedules?.().schedules ?? []).flatMap(({ name, lateSince, runs: [last] }) => [
    ...(lateSince === null ? [] : [html`${scheduleLink(view, name)} ${late(lateSince)}`]),
    ...(last === undefined || endedWell(last)
      ? []
      : [
          html`${scheduleLink(view, name)} ${outcomeAndAge(last, view.now)}${last.details === "" ? "" : html`: <bdi>${last.details}</bdi>`}`,
        ]),
  ]);
  return bad.length === 0 ? null : html`${bad.map((one, n) => html`${n === 0 ? "" : "; "}${one}`)}`;
}

/** The page of the schedules has none of an account. */
const scheduleLink = (view: View, name: string): Html =>
  view.account === null
    ? html`<a href="${view.link("/schedules")}"><bdi>${name}</bdi></a>`
    : html`<bdi>${name}</bdi>`;

function nextRun(view: View): Html | string {
  const [next] = (view.schedules?.().schedules ?? [])
    .flatMap(({ name, nextAt, step }) => (nextAt === null ? [] : [{ name, nextAt, step }]))
    .sort((a, b) => a.nextAt.localeCompare(b.nextAt));
  return next === undefined
    ? "none is scheduled"
    : html`${scheduleLink(view, next.name)}, ${formatNext(next.nextAt, view.now, next.step)}`;
}

/** Null where nothing is known of the size of the catalogue. */
function leftToFetch(view: View): Html | null {
  if (view.mirror.identity.area !== "catalogue") return null;
  const { forecast } = view.slow("forecast");
  const whole = forecast?.depths.at(-1);
  if (forecast === null || whole === undefined) return null;
  const { remainingRequests, days } = whole;
  const { requestsPerDay } = forecast;
  const time = formatDays(days.atLimit ?? Math.ceil(remainingRequests / requestsPerDay));
  const left =
    remainingRequests === 0
      ? "nothing: the next run looks for changes"
      : `about ${formatCount(remainingRequests, "request")}, which take ${time} at ${formatNumber(requestsPerDay)} a day`;
  return html`${left} (<a href="${view.link("/plan")}">plan</a>)`;
}
