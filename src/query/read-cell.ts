import type { Cell } from "../../schema/fields.ts";
import { fromStored } from "../mirror/rows/cell.ts";

/** What better-sqlite3 gives when asked for safe integers. */
export type SqliteValue = string | number | bigint | Buffer | null;

/**
 * Turns a value of SQLite into a cell. Integers that a double holds exactly become numbers, others stay bigints. A
 * mirror keeps text with lone surrogates, which UTF-8 cannot hold, as a blob of UTF-16LE in a column declared ANY: it
 * becomes that text again. Any other blob is shown as the SQL literal `x'…'`, which can go into the next query as it is.
 * @param declaredType of the column that the value comes straight from; null for an expression
 */
export function readCell(value: SqliteValue, declaredType: string | null): Cell {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (!Buffer.isBuffer(value)) return value;
  if (declaredType === "ANY" && value.length % 2 === 0) {
    const text = fromStored(value);
    if (typeof text === "string" && !text.isWellFormed()) return text;
  }
  return `x'${value.toString("hex")}'`;
}
