/** Text tables, aligned by display width, with control characters escaped. */
import { formatLongNumber, isLargeNumber, isWhole } from "../../../presentation/numbers.ts";
import { formatStoredTime } from "../../../presentation/times.ts";
import { escapeControls } from "../safe-text.ts";
import { wrapText } from "../wrap.ts";
import { displayWidth } from "./display-width.ts";
import {
  belowIndent,
  type Column,
  type FittedTable,
  fitColumns,
  isAddress,
  minAddressWidth,
  truncateMiddle,
} from "./fit-columns.ts";

type Rows = readonly (readonly unknown[])[];

/** @param screen the terminal whose width the table fits; null: it is as wide as its cells */
export function formatTable(
  columns: readonly string[],
  rows: Rows,
  screen: { readonly columns: number } | null = null,
): string {
  const lines = screen === null ? tableLines(columns, rows) : fittedLines(columns, rows, screen.columns);
  return `${[...lines].join("\n")}\n`;
}

const gap = "  ";
/** A narrower last column is not wrapped. */
const minWrapped = 12;

/**
 * A table whose last column holds sentences, which are wrapped on a terminal.
 * @param screen null without a terminal: each row is a line
 */
export function formatWrappedTable(
  columns: readonly string[],
  rows: Rows,
  screen: { readonly columns: number } | null,
): string {
  const others = columns
    .slice(0, -1)
    .map((name, n) => Math.max(...[name, ...rows.map((row) => escapeControls(row[n]))].map(displayWidth)));
  const room = (screen?.columns ?? 0) - others.reduce((sum, width) => sum + width + gap.length, 0);
  if (room < minWrapped) return formatTable(columns, rows);
  const wrapped = rows.flatMap((row) =>
    wrapText(String(row.at(-1) ?? ""), room)
      .split("\n")
      .map((line, n) => [...row.slice(0, -1).map((cell) => (n === 0 ? cell : null)), line]),
  );
  return formatTable(columns, wrapped);
}

/** Aligns rows without a heading, by display width. The last column, which may hold very long texts, needs no room after it. */
export function alignRows(rows: Rows, indent = ""): string {
  const cells = rows.map((row) => row.map(escapeControls));
  const widths = (cells[0] ?? [])
    .slice(0, -1)
    .map((_, n) => Math.max(...cells.map((row) => displayWidth(row[n] ?? ""))));
  const pad = (cell: string, n: number) =>
    cell + " ".repeat(Math.max(0, (widths[n] ?? 0) - displayWidth(cell)));
  return cells
    .map((row) => {
      const last = row.length - 1;
      return `${`${indent}${row.map((cell, n) => (n === last ? cell : pad(cell, n))).join(gap)}`.trimEnd()}\n`;
    })
    .join("");
}

/** The lines of a table, each without its line end. */
export function* tableLines(columns: readonly string[], rows: Rows): Generator<string> {
  const natural = columnsOf(columns, rows, (value) => escapeControls(value));
  yield* linesOf({ columns: natural, gap: gap.length, below: null }, rows.length);
}

/**
 * The lines of a table that fits a terminal. Columns with large numbers have separators, and times are short. Long keys are
 * on a line below their row. If the columns cannot be made narrow enough, there is a line for each value; there, too, only
 * addresses are cut.
 * @param width of the terminal
 */
export function* fittedLines(columns: readonly string[], rows: Rows, width: number): Generator<string> {
  const isLarge = columns.map((_, index) =>
    rows.some((row) => {
      const value = row[index];
      return isWhole(value) && isLargeNumber(value);
    }),
  );
  const natural = columnsOf(columns, rows, (value, index) =>
    escapeControls(isLarge[index] && isWhole(value) ? formatLongNumber(value) : formatStoredTime(value)),
  );
  const fitted = fitColumns(natural.map(alignPoints), width);
  if (fitted === null) yield* recordLines(natural, rows.length, width);
  else yield* linesOf(fitted, rows.length);
}

function columnsOf(
  names: readonly string[],
  rows: Rows,
  show: (value: unknown, column: number) => string,
): Column[] {
  return names.map((name, index) => {
    const header = escapeControls(name);
    const cells = rows.map((row) => show(row[index], index));
    return {
      name: header,
      heading: [header],
      cells,
      width: cells.reduce((widest, cell) => Math.max(widest, displayWidth(cell)), displayWidth(header)),
      isNumeric: rows.length > 0 && rows.every((row) => isNumber(row[index])),
    };
  });
}

/** Fills up shorter fractions with spaces, so that the points of numbers are below each other. */
function alignPoints(column: Column): Column {
  const fractionOf = (cell: string) => /\.\d+$/.exec(cell)?.[0].length ?? 0;
  const longest = column.cells.reduce((length, cell) => Math.max(length, fractionOf(cell)), 0);
  if (!column.isNumeric || longest === 0) return column;
  const cells = column.cells.map((cell) => cell + " ".repeat(longest - fractionOf(cell)));
  return {
    ...column,
    cells,
    width: cells.reduce((width, { length }) => Math.max(width, length), column.width),
  };
}

function* linesOf({ columns, gap, below }: FittedTable, rows: number): Generator<string> {
  const between = " ".repeat(gap);
  const indent = " ".repeat(belowIndent);
  const toLine = (textOf: (column: Column) => string) =>
    columns
      .map((column) => {
        const text = textOf(column);
        const space = " ".repeat(column.width - displayWidth(text));
        return column.isNumeric ? space + text : text + space;
      })
      .join(between)
      .trimEnd();
  const headingLines = Math.max(...columns.map(({ heading }) => heading.length));
  for (let line = headingLines; line > 0; line--) yield toLine(({ heading }) => heading.at(-line) ?? "");
  if (below?.isWhole) yield `${indent}key`;
  yield columns.map(({ width }) => "─".repeat(width)).join(between);
  for (let row = 0; row < rows; row++) {
    yield toLine(({ cells }) => cells[row] ?? "");
    const key = below?.keys[row] ?? "";
    if (key !== "") yield indent + key;
  }
}

function* recordLines(columns: readonly Column[], rows: number, width: number): Generator<string> {
  const names = Math.max(...columns.map(({ name }) => displayWidth(name)));
  const room = Math.max(width - names - gap.length, minAddressWidth);
  const shown = columns.map((column) =>
    isAddress(column) ? { ...column, cells: column.cells.map((cell) => truncateMiddle(cell, room)) } : column,
  );
  for (let row = 0; row < rows; row++) {
    const head = `─ ${row + 1} of ${rows} `;
    yield head.padEnd(Math.max(head.length, Math.min(width, 80)), "─");
    for (const { name, cells } of shown)
      yield `${name}${" ".repeat(names - displayWidth(name))}${gap}${cells[row] ?? ""}`.trimEnd();
  }
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint" || value === null;
}
