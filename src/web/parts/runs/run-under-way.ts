/** The running sync in one sentence. */
import { html } from "hono/html";
import { formatAge } from "../../../presentation/durations.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatMoment } from "../../../presentation/times.ts";
import type { Html, View } from "../../page.ts";
import { type RunUnderWay, readRunUnderWay } from "../../queries/run-under-way.ts";
import { ownerOfRuns } from "./run-link.ts";

/** Null while none runs, and for earlier states. */
export function runUnderWay(view: View): Html | null {
  const { mirror, now, asOf, slow } = view;
  const running = asOf === undefined ? readRunUnderWay(mirror, now, (run) => slow("progress", run)) : null;
  return running && html`<p class="note under-way" role="status">${describe(view, running)}</p>`;
}

function describe(
  view: View,
  { run, startedAt, mode, done, toFetch, allowanceLeft, estimatedEnd }: RunUnderWay,
): Html {
  const { now } = view;
  const left = toFetch === 0 ? "" : `, ${formatNumber(toFetch)} known and not fetched yet`;
  const allowance =
    allowanceLeft === null ? "" : `, ${formatCount(allowanceLeft, "request")} of the allowance left`;
  const end = estimatedEnd === null ? "" : `, until about ${formatMoment(estimatedEnd, now)}`;
  return html`<strong>Run ${run} of ${ownerOfRuns(view)} is under way</strong> (${mode}, for ${formatAge(startedAt, now)}): ${formatCount(done, "resource")} so far${left}${allowance}${end}.`;
}
