/** `/changes`: the runs that found something new, changed or gone, the newest first. */
import { html } from "hono/html";
import { listRuns, type RunRecord } from "../../../mirror/runs/run-log.ts";
import type { RunCounts } from "../../../mirror/runs/runs.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import type { Page, View } from "../../page.ts";
import { changedTables } from "../../parts/changes/change-list.ts";
import { pager, table } from "../../parts/lists/table.ts";
import { runLink } from "../../parts/runs/run-link.ts";
import { pageEnd, pagePlace } from "../../parts/runs/run-place.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { empty, wholeness } from "../../parts/states.ts";
import { timeOf } from "../../parts/values.ts";

const pageSize = 50;

export const changesPage: Page = {
  path: "/changes",
  navigation: "Changes",
  render(view) {
    const all = runsWithChanges(view);
    const rest = afterPlace(view, all);
    const shown = rest.slice(0, pageSize);
    const body = html`${sectionTabs(view, "changes")}
<h1>Changes of the catalogue</h1>
${wholeness(view, changedTables)}
<p class="count">${formatCount(all.length, "run")} found something</p>
${
  shown.length === 0
    ? empty("No run has found anything.")
    : table({
        caption: "Runs with changes",
        columns: [
          { label: "Run" },
          { label: "Ended" },
          { label: "New", isNumber: true },
          { label: "Changed", isNumber: true },
          { label: "Gone", isNumber: true },
        ],
        rows: shown.map(({ run, endedAt, found }) => [
          runLink(view, run),
          timeOf(endedAt),
          ...[found.new, found.changed, found.gone].map((count) => formatNumber(count)),
        ]),
      })
}
${pager({
  shown: shown.length,
  total: all.length,
  noun: "run",
  isLater: pagePlace(view) !== null,
  firstHref: view.link(view.path),
  nextHref: rest.length > pageSize ? view.link(view.path, { after: shown.at(-1)?.run.id }) : null,
})}
<p class="hint">The numbers are of resources, pages of lists included. A run leads to its changes of brands, models and sizes.</p>`;
    return { title: "Changes", body };
  },
  rows: (view) => ({
    name: "changes",
    from: changedTables,
    columns: ["run", "ended_at", "new", "changed", "gone"],
    rows: () =>
      afterPlace(view, runsWithChanges(view)).map(({ run, endedAt, found }) => [
        ...[run.id, endedAt],
        ...[found.new, found.changed, found.gone],
      ]),
  }),
};

interface RunWithChanges {
  readonly run: RunRecord;
  readonly endedAt: string;
  readonly found: RunCounts["resources"];
}

/** Without those that are pruned: their changes can no longer be shown. */
function runsWithChanges(view: View): RunWithChanges[] {
  return listRuns(view.mirror, -1, false, pageEnd(view)).flatMap((run) => {
    const { endedAt, prunedAt, counts } = run;
    if (endedAt === null || prunedAt !== null || counts === null) return [];
    const found = counts.resources;
    return found.new + found.changed + found.gone === 0 ? [] : [{ run, endedAt, found }];
  });
}

const afterPlace = (view: View, runs: readonly RunWithChanges[]): readonly RunWithChanges[] => {
  const place = pagePlace(view);
  return place === null ? runs : runs.filter(({ run }) => run.id < place);
};
