/** `/compare?from=&to=`: the changes between any two points, with the filters of `armoire diff`, grouped by brand. */
import { html } from "hono/html";
import { ChangeError } from "../../../change/errors.ts";
import type { FilterInput } from "../../../change/filter.ts";
import { type FromRun, openRunDiff } from "../../../change/open-diff.ts";
import type { DiffSource } from "../../../change/sources.ts";
import { PointError, parsePoint, pointContext } from "../../../mirror/points/point.ts";
import { resolvePoint } from "../../../mirror/points/resolve-point.ts";
import type { Html, Page, View } from "../../page.ts";
import { changeList, changeRows, skippedIn } from "../../parts/changes/change-list.ts";
import { compareForm } from "../../parts/changes/compare-form.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { empty, mistake } from "../../parts/states.ts";
import { timeOf } from "../../parts/values.ts";

export const comparePage: Page = {
  path: "/compare",
  render(view) {
    const { body, status } = answer(view);
    return {
      title: "Compare",
      hasRows: status === 200,
      status,
      body: html`${sectionTabs(view, "changes")}
<h1>Compare</h1>
${compareForm(view)}
${body}`,
    };
  },
  rows: (view) => changeRows(openChanges(view, endsOf(view))),
};

interface Ends {
  readonly from: FromRun;
  /** The number of a run. */
  readonly to: number;
}

/** As `armoire diff`: by default from the last earlier run with another state. @throws PointError, also for runs after the one shown */
function endsOf({ mirror, query, now }: View): Ends {
  const { timeZone } = pointContext();
  const runAt = (name: string): number | null => {
    const text = query.get(name)?.trim() ?? "";
    return text === "" ? null : resolvePoint(mirror.db, parsePoint(text, { now, timeZone })).run;
  };
  const from = runAt("from");
  const to = runAt("to") ?? mirror.asOf?.run ?? resolvePoint(mirror.db, { kind: "latest", back: 0 }).run;
  return { from: from === null ? "before-last-change" : { kind: "run", run: from }, to };
}

function filterOf({ query }: View): FilterInput {
  const given = (name: string) => query.getAll(name).filter((text) => text.trim() !== "");
  return { kinds: given("kind"), brands: given("brand"), fields: given("field"), ignored: given("ignore") };
}

const openChanges = (view: View, { from, to }: Ends) =>
  openRunDiff({ file: view.mirror.file, point: { kind: "run", run: to } }, from, filterOf(view));

interface Answer {
  readonly body: Html;
  readonly status: 200 | 400 | 404;
}

function answer(view: View): Answer {
  try {
    return { body: changesBetween(view, endsOf(view)), status: 200 };
  } catch (error) {
    if (error instanceof ChangeError && error.code === "no-such-run")
      return {
        body: empty("There is no earlier run to compare with.", "The next sync adds one."),
        status: 200,
      };
    if (!(error instanceof ChangeError || error instanceof PointError)) throw error;
    return { body: mistake(error), status: error.kind === "usage" ? 400 : 404 };
  }
}

function changesBetween(view: View, ends: Ends): Html {
  const skipped = skippedIn(view);
  const found = view.slow("changes", { ...ends, filter: filterOf(view), isFirst: false, skipped });
  const { from, to } = found;
  return html`<p class="lead">From ${runOf(from)} to ${runOf(to)}.</p>
${changeList(view, found, {
  emptyText: "Nothing of this differs.",
  uncounted: "More than 1,000 changes",
  skipped,
})}`;
}

function runOf(source: DiffSource | null): Html | string {
  if (source === null || !("mirror" in source.place)) return "";
  const { run, endedAt } = source.place;
  return html`run ${run}${endedAt === null ? "" : html`, which ended ${timeOf(endedAt)}`}`;
}
