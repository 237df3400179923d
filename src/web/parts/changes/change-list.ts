/** Changes between two states, grouped by brand; of very many the first ones, their number, and where all of them are. */
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
import { empty, note } from "../states.ts";
import { changesByBrand } from "./changes-by-brand.ts";

export interface ChangeListOptions {
  readonly emptyText: string;
  /** Said instead of totals if there are too many changes to count. */
  readonly uncounted: string;
  /** The address of all changes as CSV. */
  readonly allHref: string;
}

export function changeList(
  view: View,
  { from, coverage, first, totals }: Pick<ChangesBetween, "from" | "coverage" | "first" | "totals">,
  options: ChangeListOptions,
): Html {
  const gaps = gapsOfDiff(coverage, from !== null, formatMinute).map((gap) => note(gap));
  if (first.length === 0) return html`${gaps}${empty(options.emptyText)}`;
  const all = totals === null ? null : numberOf(totals);
  const rest =
    all === first.length
      ? ""
      : note(
          html`These are the first ${formatNumber(first.length)}${all === null ? "" : ` of ${formatNumber(all)}`} changes, brands first. <a href="${options.allHref}" download>All changes as CSV</a>`,
        );
  return html`<p class="count">${totals === null ? options.uncounted : totalsOf(totals)}</p>
${gaps}${rest}
${changesByBrand(view, first)}`;
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
