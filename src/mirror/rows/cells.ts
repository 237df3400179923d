/**
 * Conversion between cells and the values that SQLite stores: a column returns exactly the value that it was given.
 */
import type { Cell } from "../../../schema/fields.ts";

/** SQLite stores text as UTF-8, which cannot express lone surrogates: such text becomes a BLOB of UTF-16LE. */
export function toStored(cell: Cell): Cell | Buffer {
  return typeof cell === "string" && !cell.isWellFormed() ? Buffer.from(cell, "utf16le") : cell;
}

export function fromStored(stored: unknown): Cell {
  if (Buffer.isBuffer(stored)) return stored.toString("utf16le");
  return stored as Cell;
}

/** An id as statements with `safeIntegers()` return it. */
export function toStoredId(id: number | null): bigint | null {
  return id === null ? null : BigInt(id);
}
