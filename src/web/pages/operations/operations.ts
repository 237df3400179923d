/** `/operations`: what coordinators and workers share through Redis, for operators. */
import { html } from "hono/html";
import type { Overview } from "../../../../jobs/bullmq/operators/overview.ts";
import { toIso } from "../../../platform/clock.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import { readStates } from "../../../query/lists/resource-states.ts";
import type { Html, SharedPage, SharedView } from "../../page.ts";
import { live } from "../../parts/live.ts";
import { allowancesOf } from "../../parts/operations/allowances.ts";
import { failuresByReason } from "../../parts/operations/failures.ts";
import { endedRuns, runningRuns } from "../../parts/operations/runs.ts";
import { scheduleTables } from "../../parts/operations/schedules.ts";
import { summary } from "../../parts/operations/summary.ts";
import { workerTable } from "../../parts/operations/workers.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { empty } from "../../parts/states.ts";

export const operationsPage: SharedPage = {
  path: "/operations",
  isShared: true,
  render(view) {
    const { address = "", overview = null } = view.redis ?? {};
    const body = html`${sectionTabs(view, "runs")}
<h1>Operations</h1>
<p class="hint">What coordinators and workers share through Redis at <span class="code">${address}</span>.</p>
${live(view, "all", "shared", overview === null ? empty("Redis does not respond.", "The page shows it again when Redis is back.") : sectionsOf(view, overview))}`;
    return {
      ...{ title: "Operations", body, hasRows: overview !== null },
      ...(overview === null && { status: 503 as const }),
    };
  },
  rows(view) {
    const overview = view.redis?.overview ?? null;
    if (overview === null) return null;
    return {
      name: "failures",
      columns: ["reason", "message", "kind", "label", "url", "run", "attempts", "failed_at", "principal"],
      rows: () =>
        overview.failures.map(({ reason, message, kind, label, url, run, attempts, failedAt, principal }) => [
          ...[reason, message, kind, label, url, run, attempts, toIso(failedAt), principal],
        ]),
      document: overview,
    };
  },
};

function sectionsOf(view: SharedView, overview: Overview): Html {
  const { mirror, now } = view;
  const urls = overview.failures.map(({ url }) => url);
  const states = mirror === null ? new Map() : readStates(mirror, urls);
  const stateOf = (url: string) => states.get(url) ?? null;
  const failed = overview.failures.filter(({ url }) => stateOf(url) !== "held");
  const sections = [
    ["running", "Running now", runningRuns(overview.runs, now)],
    ["failures", "Failures, by reason", failuresByReason(view, overview.failures, stateOf)],
    ["workers", "Workers", workerTable(overview, now)],
    ["allowance", "Allowance", allowancesOf(view, overview.allowances)],
    ["schedules", "Schedules", scheduleTables(overview.schedules, now)],
    ["last-runs", "Last runs", endedRuns(overview.runs)],
  ] as const;
  return html`${summary({ ...overview, failures: failed }, now)}${
    overview.hidden === 0
      ? ""
      : html`<p class="hint more">${formatCount(overview.hidden, "line")} of accounts: shown with the <a href="/session?next=/operations">key</a>.</p>`
  }${
    overview.unreadable === 0
      ? ""
      : html`<p class="note" role="note">${formatCount(overview.unreadable, "entry", "entries")} in Redis cannot be read: another program or version has written them.</p>`
  }${sections.map(
    ([id, title, content]) => html`
<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${content}</section>`,
  )}`;
}
