/** Parses the bookkeeping entries of a backup: one JSON object a line, of plain cells. */
import type { BookkeepingRow } from "../../mirror/bookkeeping/rows.ts";

/** @param refuse called with the number of a line that is no such object; the line is then left out */
export function* parseRows(
  content: Buffer,
  refuse: (line: number) => void = () => {},
): Generator<BookkeepingRow> {
  const lines = content.toString().split("\n");
  for (const [n, line] of lines.entries()) {
    if (line === "" && n === lines.length - 1) return;
    const row = parseRow(line);
    if (row === null) refuse(n + 1);
    else yield row;
  }
}

function parseRow(line: string): BookkeepingRow | null {
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject && Object.values(value).every(isCell) ? (value as BookkeepingRow) : null;
  } catch {
    return null;
  }
}

const isCell = (value: unknown) => value === null || typeof value === "string" || typeof value === "number";
