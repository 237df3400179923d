/** `/changes/RUN`: what one run changed since the run before it, grouped by brand. */
import { html } from "hono/html";
import type { Row } from "../../../../exports/formats/table.ts";
import { type Change, count, type Totals } from "../../../change/change.ts";
import { changeColumns, rowsOf } from "../../../change/change-rows.ts";
import type { Keyed } from "../../../change/keys.ts";
import { openChangeLog } from "../../../change/log/change-log.ts";
import { parsePoint, pointContext } from "../../../mirror/points/point.ts";
import { type EndedRun, resolvePoint, runBefore } from "../../../mirror/points/resolve-point.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatKind } from "../../../presentation/words.ts";
import type { Html, Page, View } from "../../page.ts";
import { changesByBrand } from "../../parts/runs/changes-by-brand.ts";
import { empty } from "../../parts/states.ts";
import { timeOf } from "../../parts/values.ts";

const maxChanges = 200;

export const runChangesPage: Page = {
  path: "/changes/:run",
  render(view) {
    const { run, endedAt } = runOf(view);
    if (view.parameters.run !== String(run)) return { redirect: view.link(`/changes/${run}`) };
    // Slow for a run with very many changes, and the same until its run or an earlier one is pruned.
    const found = view.recent(`changes of run ${run}`, () => firstChanges(view, run));
    const body = html`<nav class="crumbs" aria-label="Breadcrumbs"><a href="${view.link("/changes")}">Changes</a></nav>
<h1>Changes of run ${run}</h1>
<p class="hint">${comparedWith(view, run)} Run ${run} ended ${timeOf(endedAt)}.</p>
${found.length === 0 ? empty("This run changed no brand, model or size.") : listOf(view, found)}`;
    return { title: `Run ${run} · Changes`, body };
  },
  rows(view) {
    const { run } = runOf(view);
    return { name: "changes", columns: changeColumns, rows: () => allRows(view, run) };
  },
};

/** @throws PointError, also for a run after the one whose state is shown */
const runOf = ({ mirror, parameters }: View): EndedRun =>
  resolvePoint(mirror.db, parsePoint(parameters.run ?? "", pointContext()));

/** Read while they are iterated. */
function* changesOf({ mirror }: View, run: number): Generator<Keyed<Change>> {
  const log = openChangeLog({ mirror: mirror.file, after: run - 1, upTo: run });
  try {
    for (const { changes } of log.runs()) yield* changes;
  } finally {
    log.close();
  }
}

function* allRows(view: View, run: number): Generator<Row> {
  for (const change of changesOf(view, run)) yield* rowsOf(change);
}

/** One more than are shown, if there are more. */
function firstChanges(view: View, run: number): Change[] {
  const found: Change[] = [];
  for (const change of changesOf(view, run)) {
    found.push(change);
    if (found.length > maxChanges) break;
  }
  return found;
}

function comparedWith({ mirror }: View, run: number): Html | string {
  const before = runBefore(mirror.db, run);
  return before === null
    ? "There is no run before it to compare with: everything is new."
    : html`Compared with run ${before.run}, which ended ${timeOf(before.endedAt)}.`;
}

function listOf(view: View, found: readonly Change[]): Html {
  const shown = found.slice(0, maxChanges);
  if (found.length === shown.length)
    return html`<p class="count">${totalsOf(shown)}</p>
${changesByBrand(view, shown)}`;
  return html`<p class="count">The first ${formatNumber(maxChanges)} changes</p>
<p class="note" role="note">This run has more changes than a page shows. <a href="${view.link(`${view.path}.csv`)}" download>All changes as CSV</a></p>
${changesByBrand(view, shown)}`;
}

/** Such as `1 model added, 3 sizes changed`. */
function totalsOf(changes: readonly Change[]): string {
  const totals: Totals = {};
  for (const change of changes) count(totals, change);
  return Object.entries(totals)
    .flatMap(([kind, counts]) =>
      Object.entries(counts).map(([word, number]) => `${formatCount(number, formatKind(kind))} ${word}`),
    )
    .join(", ");
}
