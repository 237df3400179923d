/** `/changes/RUN`: what one run changed since the run before it, grouped by brand. */
import { html } from "hono/html";
import { openRunDiff } from "../../../change/open-diff.ts";
import { parsePoint, pointContext } from "../../../mirror/points/point.ts";
import { comparedRun, type EndedRun, resolvePoint } from "../../../mirror/points/resolve-point.ts";
import { listRuns } from "../../../mirror/runs/run-log.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import type { Html, Page, View } from "../../page.ts";
import { changeList, changeRows, skippedIn } from "../../parts/changes/change-list.ts";
import { timeOf } from "../../parts/values.ts";

export const runChangesPage: Page = {
  path: "/changes/:run",
  render(view) {
    const { run, endedAt } = runOf(view);
    if (view.parameters.run !== String(run)) return { redirect: view.link(`/changes/${run}`) };
    const before = comparedRun(view.mirror.db, { run, endedAt });
    const skipped = skippedIn(view);
    const found = view.slow("changes", {
      ...{ from: "previous", to: run, filter: {} },
      ...{ isFirst: before.run === 0, skipped },
    });
    const body = html`<nav class="crumbs" aria-label="Breadcrumbs"><a href="${view.link("/changes")}">Changes</a></nav>
<h1>Changes of run ${run} of the catalogue</h1>
<p class="hint">${comparedWith(before, run)} Run ${run} ended ${timeOf(endedAt)}.</p>
${changeList(view, found, {
  emptyText: before.run === run ? "No changes to show." : "This run changed no brand, model or size.",
  uncounted: countsOf(view, run),
  skipped,
})}`;
    return { title: `Run ${run} · Changes`, body };
  },
  rows: (view) => changeRows(openChanges(view, runOf(view).run)),
};

/** @throws PointError, also for a run after the one whose state is shown */
const runOf = ({ mirror, parameters }: View): EndedRun =>
  resolvePoint(mirror.db, parsePoint(parameters.run ?? "", pointContext()));

const openChanges = ({ mirror: { file } }: View, run: number) =>
  openRunDiff({ file, point: { kind: "run", run } }, "previous", {});

function comparedWith({ run, endedAt }: ReturnType<typeof comparedRun>, after: number): Html | string {
  if (endedAt === null) return "There is no run before it to compare with: everything is new.";
  return run === after
    ? "All runs before it were pruned: its changes are not known."
    : html`Compared with run ${run}, which ended ${timeOf(endedAt)}.`;
}

/** As the run itself has counted them. */
function countsOf({ mirror }: View, run: number): string {
  const [{ counts } = { counts: null }] = listRuns(mirror, 1, true, run + 1);
  if (counts === null) return "";
  const { new: added, changed, gone } = counts.resources;
  return `${formatCount(added, "new resource")}, ${formatNumber(changed)} changed, ${formatNumber(gone)} gone; pages of lists included`;
}
