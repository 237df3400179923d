/** An answer: how many rows, how whole the tables are, a chart where two columns make one, and the first rows. */
import { html } from "hono/html";
import type { Row } from "../../../../exports/formats/table.ts";
import { describeLostRevisions } from "../../../mirror/points/pruned-runs.ts";
import { formatCount, formatNumber, isWhole } from "../../../presentation/numbers.ts";
import { followHint, type QueryResult } from "../../../query/sql/run-query.ts";
import { answerChart } from "../../charts/answer-charts.ts";
import { chartFigure } from "../../charts/figure.ts";
import type { Html, View } from "../../page.ts";
import { type FirstRows, maxDownloadedRows } from "../../queries/answers.ts";
import { shadedTable } from "../resource/heat-map.ts";
import { empty, wholeness } from "../states.ts";
import { answerTable, shownRows } from "./answer-table.ts";

export interface AnswerOptions {
  readonly answer: FirstRows;
  /** What to say if there are no rows. */
  readonly emptyText: string;
  /** Whether a chart of only the first rows means something: it does if the answer is sorted and limited by itself. */
  readonly canChartPart: boolean;
}

export function answerSection(view: View, options: AnswerOptions): Html {
  const { rows, result } = options.answer;
  const { columns, isCut } = result;
  const shown = shownRows(columns, rows);
  const chart = isCut && !options.canChartPart ? null : answerChart({ columns, rows });
  return html`<section class="answer" aria-label="Answer">
<p class="count">${countOf(shown.length, rows.length, result)}</p>
${notesOf(view, result)}
${
  rows.length === 0
    ? empty(options.emptyText)
    : html`${chart === null ? "" : html`<div class="charts">${chartFigure(chart)}</div>`}
${sizeMap(columns, shown) ?? answerTable(view, columns, shown)}`
}</section>`;
}

/** Of an answer with a row for each band and a column for each cup, as the question size-coverage has it; null of any other. */
function sizeMap([first, ...cups]: readonly string[], rows: readonly Row[]): Html | null {
  const isMap =
    first === "band" && cups.length > 1 && rows.every((row) => row.every((cell) => isWhole(cell ?? 0)));
  if (!isMap) return null;
  return shadedTable({
    caption: "Models by band and cup",
    columns: cups,
    rows: rows.map(([band, ...counts]) => ({ heading: String(band), counts: counts.map(Number) })),
  });
}

function countOf(shown: number, read: number, { isCut, total }: QueryResult): string {
  if (!isCut && shown === read) return formatCount(read, "row");
  const all = isCut ? total : read;
  const downloads =
    all === null || all > maxDownloadedRows
      ? `a download has up to ${formatNumber(maxDownloadedRows)}`
      : "a download has all";
  const of = all === null ? " rows" : ` of ${formatCount(all, "row")}`;
  return `The first ${formatNumber(shown)}${of}: ${downloads}`;
}

/** The coverage is that of the page: a statement would count its own, which takes long while a sync writes. */
function notesOf(
  view: View,
  { tables: { mirror: tables }, emptyTables: { area, names }, lacksRelations, prunedRuns }: QueryResult,
): Html {
  return html`${tables.length === 0 ? "" : wholeness(view, tables)}${
    names.length === 0
      ? ""
      : html`<p class="note" role="note">A mirror of ${area === "catalogue" ? "the catalogue" : "an account"} has no rows of ${names.join(", ")}.</p>`
  }${lacksRelations ? html`<p class="note" role="note">${followHint}</p>` : ""}${prunedRuns === 0 ? "" : html`<p class="note" role="note">${describeLostRevisions(prunedRuns)}</p>`}`;
}
