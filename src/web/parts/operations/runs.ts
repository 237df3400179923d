/** Runs of all coordinators: those under way with their progress, and the last ones. */
import { html } from "hono/html";
import type { RunOverview } from "../../../../jobs/bullmq/operators/runs.ts";
import { toIso } from "../../../platform/clock.ts";
import { formatAge, formatDuration } from "../../../presentation/durations.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatMoment } from "../../../presentation/times.ts";
import { formatKind } from "../../../presentation/words.ts";
import type { Html } from "../../page.ts";
import { table } from "../lists/table.ts";
import { empty } from "../states.ts";
import { none, numberOf, timeOf } from "../values.ts";
import { failedRun, outcomeInWords } from "./summary.ts";

export function runningRuns(runs: readonly RunOverview[], now: number): Html {
  const running = runs.filter(({ endedAt }) => endedAt === null);
  if (running.length === 0) return empty("No sync is running.");
  return html`${running.map((run) => runningRun(run, now))}`;
}

function runningRun({ principal, service, run, mode, startedAt, progress }: RunOverview, now: number): Html {
  const facts = [
    ["running for", formatAge(toIso(startedAt), now)],
    ...(progress === null
      ? []
      : [
          ["counted", formatNumber(progress.counted)],
          ["due", formatNumber(progress.due)],
          [
            "left of the allowance",
            progress.allowanceLeft === null ? "unknown" : formatNumber(progress.allowanceLeft),
          ],
          ["ends about", progress.estimatedEnd === null ? "" : formatMoment(progress.estimatedEnd, now)],
        ]),
  ].filter(([, value]) => value !== "");
  return html`<article class="card"><h3>${principal} <span class="muted">at ${service}${run === null ? "" : `, run ${run}, ${mode}`}</span></h3>
${progress === null ? "" : kindsOf(progress.kinds)}
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></article>`;
}

/** How many of each kind are held, of those that are known. */
export const kindsOf = (
  kinds: readonly { readonly kind: string; readonly held: number; readonly known: number }[],
): Html =>
  html`<ul class="kinds">${kinds.map(
    ({ kind, held, known }) => html`
<li><p><span>${formatKind(kind)}</span> <span class="number">${formatNumber(held)} <span class="muted">of ${formatNumber(known)}</span></span></p>
<progress max="${Math.max(1, known)}" value="${held}" aria-label="Held: ${formatKind(kind)}"></progress></li>`,
  )}</ul>`;

export function endedRuns(runs: readonly RunOverview[]): Html {
  const ended = runs.filter(({ endedAt }) => endedAt !== null);
  if (ended.length === 0) return empty("No run has ended yet.");
  return table({
    caption: "Last runs",
    isStacked: true,
    columns: [
      { label: "Of" },
      { label: "Began" },
      { label: "Took", isNumber: true, isMinor: true },
      { label: "Result" },
      { label: "Counted", isNumber: true },
    ],
    rows: ended.map(({ principal, service, run, startedAt, endedAt, state, ...end }) => [
      html`${principal}${run === null ? "" : ` ${run}`} <span class="muted">${service}</span>`,
      timeOf(toIso(startedAt)),
      endedAt === null ? none() : formatDuration((endedAt - startedAt) / 1000),
      state === "failed"
        ? html`${failedRun()} <span class="hint"><bdi>${end.outcome}</bdi></span>`
        : `${outcomeInWords(end.outcome)}${end.failed ? `, ${formatCount(end.failed, "failed resource")}` : ""}`,
      numberOf(end.counted),
    ]),
  });
}
