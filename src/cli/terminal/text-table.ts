/** Text tables, aligned by display width, with control characters escaped. */
import { escapeControls } from "./safe-text.ts";

export function formatTable(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return `${[...tableLines(columns, rows)].join("\n")}\n`;
}

/** The lines of a table, each without its line end. */
export function* tableLines(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Generator<string> {
  const cells = [columns, ...rows].map((row) => row.map(escapeControls));
  const widths = columns.map((_, index) =>
    cells.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? "")), 0),
  );
  const isNumeric = columns.map((_, index) => rows.length > 0 && rows.every((row) => isNumber(row[index])));
  const toLine = (row: readonly string[]) =>
    row
      .map((cell, index) => {
        const space = " ".repeat((widths[index] ?? 0) - displayWidth(cell));
        return isNumeric[index] ? space + cell : cell + space;
      })
      .join("  ")
      .trimEnd();
  yield toLine(cells[0] ?? []);
  yield widths.map((width) => "─".repeat(width)).join("  ");
  for (const row of cells.slice(1)) yield toLine(row);
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint" || value === null;
}

let segmenter: Intl.Segmenter | undefined;

/** Grapheme clusters. The segmenter is created on demand: it is slow to create, and ASCII text needs none. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** Cuts a text to a display width, with an ellipsis. */
export function truncate(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = "";
  let width = 1;
  for (const { segment } of segmentsOf(text.slice(0, 2 * columns))) {
    width += displayWidth(segment);
    if (width > columns) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The number of columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}
