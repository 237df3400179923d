/** Long lists of rows as entries: one JSON object a line, of plain cells, in parts, so that no reader needs much memory. */
import type { BookkeepingRow } from "../../mirror/bookkeeping/rows.ts";
import type { NewEntry } from "./zip-writer.ts";

/** A part or a block ends when it has this many bytes. */
export const partBytes = 2 ** 20;

/**
 * @param nameOf a part, from 1
 * @param isOptional whether there is no entry without rows; default: there is an empty one
 */
export function* rowEntries(
  nameOf: (part: number) => string,
  rows: Iterable<object>,
  isOptional = false,
): Generator<NewEntry> {
  let lines: Buffer[] = [];
  let bytes = 0;
  let part = 1;
  const entry = (): NewEntry => ({ name: nameOf(part), content: Buffer.concat(lines) });
  for (const row of rows) {
    if (bytes >= partBytes) {
      yield entry();
      part++;
      [lines, bytes] = [[], 0];
    }
    const line = Buffer.from(`${JSON.stringify(row)}\n`);
    lines.push(line);
    bytes += line.length;
  }
  if (bytes > 0 || !isOptional) yield entry();
}

/** @param refuse called with the number of a line that is no such object; the line is then left out */
export function* parseRows(
  content: Buffer,
  refuse: (line: number) => void = () => {},
): Generator<BookkeepingRow> {
  // One by one: millions of lines as texts would take several times the memory of the content.
  for (let [start, n] = [0, 1]; start < content.length; n++) {
    const found = content.indexOf(lineFeed, start);
    const end = found === -1 ? content.length : found;
    const row = parseRow(content.toString("utf8", start, end));
    if (row === null) refuse(n);
    else yield row;
    start = end + 1;
  }
}

const lineFeed = 10;

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
