/** Whether all is well, at the top of the page for operators. */
import { html } from "hono/html";
import type { Overview } from "../../../../jobs/bullmq/operators/overview.ts";
import { dayMillis, toIso } from "../../../platform/clock.ts";
import { formatAge } from "../../../presentation/durations.ts";
import { formatCount, formatPercent } from "../../../presentation/numbers.ts";
import { formatNext } from "../../../presentation/times.ts";
import type { Html } from "../../page.ts";
import { describeResult } from "../runs/run-result.ts";

export function summary(overview: Overview, now: number): Html {
  const facts = [
    ["last run", describeLastRun(overview, now)],
    ["failed resources", describeFailures(overview, now)],
    ["workers", describeWorkers(overview)],
    ["next run", describeNext(overview, now)],
    ["Redis", describeMemory(overview)],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function describeLastRun({ runs }: Overview, now: number): Html | string {
  const last = runs.find(({ endedAt }) => endedAt !== null);
  const running = runs.filter(({ endedAt }) => endedAt === null).length;
  const underWay = running === 0 ? [] : [`${formatCount(running, "run")} under way`];
  if (last === undefined) return underWay[0] ?? "none is known";
  const age = formatAge(toIso(last.endedAt ?? last.startedAt), now);
  const failed = last.failed ? `, ${formatCount(last.failed, "failed resource")}` : "";
  const outcome = last.state === "failed" ? failedRun() : `${outcomeInWords(last.outcome)}${failed}`;
  return html`${last.principal}: ${outcome}, ${[`${age} ago`, ...underWay].join("; ")}`;
}

export const failedRun = (): Html => html`<strong class="mistake">failed</strong>`;

export const outcomeInWords = (outcome: string | null): string =>
  outcome === null ? "ended" : describeResult(outcome.replaceAll("-", " "));

function describeFailures({ failures }: Overview, now: number): string {
  if (failures.length === 0) return "none";
  const recent = failures.filter(({ failedAt }) => now - failedAt < dayMillis).length;
  return `${recent} in the last day, ${failures.length} in the last week`;
}

function describeWorkers({ workers, requests }: Overview): string {
  const waiting = requests.reduce((sum, one) => sum + one.waiting, 0);
  const waits = waiting === 0 ? "" : `; ${formatCount(waiting, "request waits", "requests wait")}`;
  if (workers.length === 0) return `none${waits}`;
  const states = new Set(workers.flatMap(({ principals }) => principals.map(({ credential }) => credential)));
  const problem = states.has("refused") ? ", a credential is refused" : "";
  return `${workers.length}${problem}${waits}`;
}

function describeNext({ schedules }: Overview, now: number): string {
  const [next] = schedules;
  if (next === undefined) return "no schedule";
  if (next.nextAt === null) return "none is due";
  return `${next.name}, ${formatNext(toIso(next.nextAt), now)}`;
}

function describeMemory({ memory: { usedBytes, maxBytes } }: Overview): string {
  const used = `${(usedBytes / 2 ** 20).toFixed(1)} MiB`;
  return maxBytes === 0
    ? `${used} of memory`
    : `${used}, ${formatPercent(usedBytes / maxBytes)} of its memory`;
}
