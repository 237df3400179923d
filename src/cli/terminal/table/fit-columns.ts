/**
 * Makes the columns of a table fit a width: addresses go last and are cut in the middle, headings are broken into lines,
 * `href` gives way to names and to `key`, long keys go below their rows, and long texts are cut at the end. Numbers, times
 * and keys are never cut. Pure.
 */
import { displayWidth, truncate } from "./display-width.ts";

export interface Column {
  readonly name: string;
  /** The lines of the name. */
  readonly heading: readonly string[];
  readonly cells: readonly string[];
  /** Of the widest cell or line of the heading. */
  readonly width: number;
  readonly isNumeric: boolean;
}

export const minAddressWidth = 16;
/** Of a key below its row. */
export const belowIndent = 2;
/** Of a text beside a URL. */
const readableWidth = 24;
/** Of a text beside a key, which says the same in short. */
const shortTextWidth = 16;
const minTextWidth = 10;
const uncut = Number.POSITIVE_INFINITY;

export interface FittedTable {
  readonly columns: readonly Column[];
  /** Between two columns. */
  readonly gap: number;
  /** Keys that are on a line of their own below their row; null for the others. */
  readonly below: Below | null;
}

export interface Below {
  /** Whether no key is in a column, so that the name is below the heading. */
  readonly isWhole: boolean;
  readonly keys: readonly (string | null)[];
}

/** @returns null if the columns cannot be made narrow enough */
export function fitColumns(columns: readonly Column[], width: number): FittedTable | null {
  const broken = columns.map(breakHeading);
  const attempt = (of: readonly Column[], minText: number, gap = 2): FittedTable | null => {
    const fitted = fitTexts(of, width, gap, minText);
    return fitted && { columns: fitted, gap, below: null };
  };
  const whole = attempt(columns, uncut);
  if (whole !== null) return whole;
  if (!columns.some(isKey))
    return (
      attempt(broken, readableWidth) ??
      attempt(withoutHref(columns), uncut) ??
      attempt(withoutHref(broken), minTextWidth) ??
      (broken.every(({ isNumeric }) => isNumeric) ? attempt(broken, uncut, 1) : null)
    );
  return (
    attempt(withoutHref(columns), uncut) ??
    attempt(withoutHref(broken), shortTextWidth) ??
    fitKeysBelow(withoutHref(broken), width, attempt)
  );
}

/** The longest keys go below their rows; if that is not enough, all keys do. */
function fitKeysBelow(
  columns: readonly Column[],
  width: number,
  attempt: (of: readonly Column[], minText: number) => FittedTable | null,
): FittedTable | null {
  const key = columns.find(isKey);
  if (key === undefined || key.cells.some((cell) => displayWidth(cell) + belowIndent > width)) return null;
  const others = columns.filter((column) => column !== key);
  if (others.length === 0) return null;
  const most = usualWidth(key);
  const keys = key.cells.map((cell) => (displayWidth(cell) > most ? cell : null));
  const cells = key.cells.map((cell) => (displayWidth(cell) > most ? "" : cell));
  const some = attempt([...others, { ...key, cells, width: most }], shortTextWidth);
  if (some !== null) return { ...some, below: { isWhole: false, keys } };
  const all = attempt(others, minTextWidth);
  return all && { ...all, below: { isWhole: true, keys: key.cells } };
}

/** Nine of ten keys are not longer. */
function usualWidth({ cells, heading }: Column): number {
  const widths = cells.map(displayWidth).sort((a, b) => a - b);
  return Math.max(widths[Math.floor(0.9 * (widths.length - 1))] ?? 0, ...heading.map(displayWidth));
}

function fitTexts(columns: readonly Column[], width: number, gap: number, minText: number): Column[] | null {
  const most = width - gap * (columns.length - 1);
  const others = columns.filter((column) => !isAddress(column));
  const addresses = columns.filter(isAddress);
  const narrowest = addresses.map((column) => Math.min(column.width, minAddressWidth));
  const otherWidths = narrow(others, minText, most - sum(narrowest));
  if (otherWidths === null) return null;
  const addressWidths = narrow(addresses, minAddressWidth, most - sum(otherWidths)) ?? narrowest;
  return [
    ...others.map((column, index) => cut(column, otherWidths[index] ?? 0, truncate)),
    ...addresses.map((column, index) => cut(column, addressWidths[index] ?? 0, truncateMiddle)),
  ];
}

/** Narrows the widest columns first. @returns null if the columns have more than `most`, though none is wider than `min` */
function narrow(columns: readonly Column[], min: number, most: number): number[] | null {
  const widths = columns.map(({ width }) => width);
  const isNarrowable = columns.map((column) => !column.isNumeric && !isTime(column) && !isKey(column));
  for (let excess = sum(widths) - most; excess > 0; excess--) {
    const widest = Math.max(...widths.filter((width, index) => width > min && isNarrowable[index]));
    if (widest === Number.NEGATIVE_INFINITY) return null;
    const index = widths.findIndex((width, at) => width === widest && isNarrowable[at]);
    widths[index] = widest - 1;
  }
  return widths;
}

/** Breaks a name such as `largest_band` that is wider than all cells. */
function breakHeading(column: Column): Column {
  const parts = column.name.match(/[^ _]*(?:_+|$| +)|[^ _]+/g)?.filter((part) => part !== "") ?? [];
  const width = Math.max(...[...column.cells, ...parts.map((part) => part.trimEnd())].map(displayWidth), 0);
  const heading: string[] = [];
  for (const part of parts) {
    const longer = (heading.at(-1) ?? "") + part;
    if (heading.length > 0 && displayWidth(longer.trimEnd()) <= width) heading[heading.length - 1] = longer;
    else heading.push(part);
  }
  return { ...column, heading: heading.map((line) => line.trimEnd()), width };
}

/** Without the URL, if there is a key or the first column names the rows. */
function withoutHref(columns: readonly Column[]): readonly Column[] {
  const [first] = columns;
  const isNamed = first !== undefined && !first.isNumeric && !isAddress(first);
  if (!isNamed && !columns.some(isKey)) return columns;
  return columns.filter((column) => column.name !== "href" || !isAddress(column));
}

function cut(column: Column, width: number, shorten: (text: string, columns: number) => string): Column {
  if (width >= column.width) return column;
  const cells = column.cells.map((cell) => shorten(cell, width));
  return { ...column, heading: column.heading.map((line) => truncate(line, width)), cells, width };
}

/** What a person pastes into `armoire show`. */
const isKey = ({ name }: Column) => name === "key";
export const isAddress = (column: Column) => consistsOf(column, /^https?:\/\/[\x21-\x7e]*$/);
const isTime = (column: Column) => consistsOf(column, /^\d{4}-\d\d-\d\d[\d :.TZUC+-]{0,24}$/);

function consistsOf({ cells }: Column, form: RegExp): boolean {
  return cells.some((cell) => cell !== "") && cells.every((cell) => cell === "" || form.test(cell));
}

/** The end of an address tells more than its host, which a narrow column leaves out. */
export function truncateMiddle(address: string, columns: number): string {
  if (displayWidth(address) <= columns) return address;
  const head = columns < readableWidth ? 0 : Math.floor((columns - 1) / 3);
  return `${address.slice(0, head)}…${address.slice(address.length - (columns - 1 - head))}`;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
