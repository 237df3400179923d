/** Charts of an answer in rows and columns: of a question, and of a person's measurements over time. Pure. */
import type { Row } from "../../../exports/formats/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import { formatCount, formatLongNumber } from "../../presentation/numbers.ts";
import type { Chart, Point } from "./chart.ts";

export interface Answer {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** More bars than this are no chart that a person reads. */
const maxBars = 24;

/**
 * A chart of the first column of numbers by the first one of different names, or of times in their order.
 * @returns null if the answer has no such two columns, or fewer than two rows
 */
export function answerChart({ columns, rows }: Answer): Chart | null {
  if (rows.length < 2) return null;
  const cellsOf = (n: number): Cell[] => rows.map((row) => row[n] ?? null);
  const named = columns.map((name, n) => ({ name, cells: cellsOf(n) }));
  const amounts = named.find(({ name, cells }) => !isAddress(name) && isAmount(cells));
  if (amounts === undefined) return null;
  const y = { label: inWords(amounts.name), form: "number" } as const;
  const values = amounts.cells.flatMap((cell) => toNumber(cell) ?? []);
  const draw = (x: Chart["x"], form: "line" | "bar", positions: readonly Point["x"][]): Chart => ({
    title: asTitle(`${y.label} by ${x.label}`),
    summary: `${formatCount(values.length, "value")}, from ${formatLongNumber(Math.min(...values))} to ${formatLongNumber(Math.max(...values))}.`,
    x,
    y,
    series: [
      {
        name: y.label,
        form,
        points: positions.map((position, n) => ({ x: position, y: toNumber(amounts.cells[n] ?? null) })),
      },
    ],
  });
  const isPosition = ({ name, cells }: (typeof named)[number]) =>
    !isAddress(name) && (cells.every(isTime) ? areInOrder(cells) : cells.every(isName) && areDistinct(cells));
  const position = named.find(isPosition);
  if (position === undefined) return null;
  const label = inWords(position.name);
  if (position.cells.every(isTime))
    return draw(
      { label, form: "time" },
      "line",
      position.cells.map((cell) => Date.parse(String(cell))),
    );
  return rows.length > maxBars ? null : draw({ label, form: "name" }, "bar", position.cells.map(String));
}

/**
 * A chart for each measurement that has two or more values.
 * @param answer of the question `measurements`: `day`, a column for each measurement, `href`, `n`
 */
export function measurementCharts({ columns, rows }: Answer): Chart[] {
  const dayAt = columns.indexOf("day");
  return columns.flatMap((name, n) => {
    if (name === "day" || isAddress(name)) return [];
    const points = rows
      .flatMap((row) => {
        const [day, value] = [row[dayAt] ?? null, toNumber(row[n] ?? null)];
        return isTime(day) && value !== null ? [{ x: Date.parse(String(day)), y: value }] : [];
      })
      .sort((a, b) => a.x - b.x);
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined || first.x === last.x) return [];
    const label = inWords(name);
    const [from, to] = [first, last].map(({ x }) => new Date(x).toISOString().slice(0, 10));
    const summary = `${first.y} on ${from}, ${last.y} on ${to}: ${points.length} measurements.`;
    const series = [{ name: label, form: "line", points } as const];
    return [
      {
        title: asTitle(label),
        summary,
        x: { label: "day", form: "time" },
        y: { label, form: "number" },
        series,
      } as const,
    ];
  });
}

const isAddress = (column: string): boolean => /(^|_)(href|url|id|n|key|slug|code)$/.test(column);

const asTitle = (label: string): string => label.charAt(0).toUpperCase() + label.slice(1);

const inWords = (column: string): string => column.replaceAll("_", " ");

const isTime = (cell: Cell): boolean =>
  typeof cell === "string" && /^\d{4}-\d\d-\d\d(T|$)/.test(cell) && !Number.isNaN(Date.parse(cell));

const isName = (cell: Cell): boolean => typeof cell === "string" && cell !== "" && !isTime(cell);

/** Numbers that differ: all of them may be missing but two. Booleans are stored as 0 and 1 and measure nothing. */
function isAmount(cells: readonly Cell[]): boolean {
  const given = cells.filter((cell) => cell !== null);
  return (
    given.length >= 2 &&
    given.every(isNumber) &&
    given.some((cell) => Number(cell) !== 0 && Number(cell) !== 1)
  );
}

const isNumber = (cell: Cell): boolean =>
  typeof cell === "bigint" || (typeof cell === "number" && Number.isFinite(cell));

/** Ascending or descending, without two equal ones: rows in another order are no course of time. */
function areInOrder(cells: readonly Cell[]): boolean {
  const times = cells.map((cell) => Date.parse(String(cell)));
  const steps = times.slice(1).map((time, n) => Math.sign(time - (times[n] ?? 0)));
  return steps.every((step) => step !== 0 && step === steps[0]);
}

const areDistinct = (cells: readonly Cell[]): boolean => new Set(cells).size === cells.length;

/** A measurement may be sent as text. */
export function toNumber(cell: Cell): number | null {
  if (cell === null || cell === "") return null;
  const number = Number(cell);
  return Number.isFinite(number) ? number : null;
}
