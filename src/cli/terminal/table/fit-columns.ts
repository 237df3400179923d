/**
 * Makes the columns of a table fit a width: addresses go last and are cut in the middle, then long texts are cut at the
 * end. Numbers are never cut. Pure.
 */
import { displayWidth, truncate } from "./display-width.ts";

export interface Column {
  readonly name: string;
  readonly cells: readonly string[];
  /** Of the widest cell, or the name. */
  readonly width: number;
  readonly isNumeric: boolean;
}

const minAddressWidth = 16;
const minTextWidth = 10;

/**
 * @param gap between two columns
 * @returns null if the columns cannot be made narrow enough
 */
export function fitColumns(columns: readonly Column[], width: number, gap: number): Column[] | null {
  const most = width - gap * (columns.length - 1);
  const others = columns.filter((column) => !isAddress(column));
  const addresses = columns.filter(isAddress);
  const narrowest = addresses.map((column) => Math.min(column.width, minAddressWidth));
  const otherWidths = narrow(others, minTextWidth, most - sum(narrowest));
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
  for (let excess = sum(widths) - most; excess > 0; excess--) {
    const widest = Math.max(...widths.filter((width, index) => width > min && !columns[index]?.isNumeric));
    if (widest === Number.NEGATIVE_INFINITY) return null;
    const index = widths.findIndex((width, at) => width === widest && !columns[at]?.isNumeric);
    widths[index] = widest - 1;
  }
  return widths;
}

function cut(column: Column, width: number, shorten: (text: string, columns: number) => string): Column {
  if (width >= column.width) return column;
  const cells = column.cells.map((cell) => shorten(cell, width));
  return { ...column, name: truncate(column.name, width), cells, width };
}

function isAddress({ cells }: Column): boolean {
  return (
    cells.some((cell) => cell !== "") && cells.every((cell) => /^(?:https?:\/\/[\x21-\x7e]*)?$/.test(cell))
  );
}

/** The end of an address tells more than its host. */
function truncateMiddle(address: string, columns: number): string {
  if (displayWidth(address) <= columns) return address;
  const head = Math.floor((columns - 1) / 3);
  return `${address.slice(0, head)}…${address.slice(address.length - (columns - 1 - head))}`;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
