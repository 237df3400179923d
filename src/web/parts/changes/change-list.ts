/** Changes between two states, grouped by brand, page by page; their number, and where all of them are. */
import { html } from "hono/html";
import type { Change, Totals } from "../../../change/change.ts";
import type { Keyed } from "../../../change/keys.ts";
import { changeColumns, rowsOfAll } from "../../../change/log/change-rows.ts";
import type { OpenDiff } from "../../../change/open-diff.ts";
import { gapsOfDiff } from "../../../mirror/runs/describe-coverage.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatMinute } from "../../../presentation/times.ts";
import { formatKind } from "../../../presentation/words.ts";
import type { Html, PageRows, View } from "../../page.ts";
import type { ChangesBetween } from "../../values/changes-between.ts";
import { hrefOf, withoutParameters } from "../links.ts";
import { pager } from "../lists/table.ts";
import { empty, note } from "../states.ts";
import { changesByBrand } from "./changes-by-brand.ts";

export interface ChangeListOptions {
  readonly emptyText: string;
  /** Said instead of totals if there are too many changes to count. */
  readonly uncounted: string;
  /** How many changes are on the pages before. */
  readonly skipped: number;
}

export function changeList(
  view: View,
  { from, coverage, shown, hasMore, totals }: Omit<ChangesBetween, "to">,
  options: ChangeListOptions,
): Html {
  const gaps = gapsOfDiff(coverage, from !== null, formatMinute).map((gap) => note(gap));
  const { skipped } = options;
  const isLater = skipped > 0;
  if (shown.length === 0 && !isLater) return html`${gaps}${empty(options.emptyText)}`;
  const end = skipped + shown.length;
  const hrefAt = (place: number | null): string => {
    const query = withoutParameters(view.query, ["after"]);
    if (place !== null) query.set("after", String(place));
    return hrefOf(view.path, query);
  };
  const place =
    isLater || hasMore
      ? note(
          html`These are changes ${formatNumber(skipped + 1)} to ${formatNumber(end)}, brands first. <a href="${hrefOf(`${view.path}.csv`, withoutParameters(view.query, ["after"]))}" download>All changes as CSV</a>`,
        )
      : "";
  return html`<p class="count">${totals === null ? options.uncounted : totalsOf(totals)}</p>
${gaps}${
  shown.length === 0
    ? empty("There are no more changes.")
    : html`${place}
${changesByBrand(view, shown)}`
}
${pager({
  shown: shown.length,
  total: totals === null ? null : numberOf(totals),
  noun: "change",
  isLater,
  firstHref: hrefAt(null),
  nextHref: hasMore ? hrefAt(end) : null,
})}`;
}

/** How many changes are on the pages before, as the address says. */
export function skippedIn({ query }: View): number {
  const text = query.get("after") ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

export const changedTables = ["brand", "model", "size"];

/** All changes, for the address with an ending such as `.csv`. */
export const changeRows = ({
  changes,
  close,
}: Pick<OpenDiff<Keyed<Change>>, "changes" | "close">): PageRows => ({
  ...{ name: "changes", from: changedTables, columns: changeColumns },
  rows: () => rowsOfAll(changes),
  close,
});

const numberOf = (totals: Totals): number =>
  Object.values(totals)
    .flatMap((counts) => Object.values(counts))
    .reduce((sum, number) => sum + number, 0);

/** Such as `1 model added, 3 sizes changed`. */
const totalsOf = (totals: Totals): string =>
  Object.entries(totals)
    .flatMap(([kind, counts]) =>
      Object.entries(counts).map(([word, number]) => `${formatCount(number, formatKind(kind))} ${word}`),
    )
    .join(", ");
