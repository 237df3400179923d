/** Between a cell and what SQLite stores: a column keeps exactly the value it was given. */
import type { Cell } from "../../../schema/fields.ts";

/** Lone surrogates have no form in UTF-8, in which SQLite keeps text, so such text is kept as a BLOB of UTF-16LE. */
export function toStored(cell: Cell): Cell | Buffer {
  return typeof cell === "string" && !cell.isWellFormed() ? Buffer.from(cell, "utf16le") : cell;
}

export function fromStored(stored: unknown): Cell {
  if (Buffer.isBuffer(stored)) return stored.toString("utf16le");
  return stored as Cell;
}

/** An id as SQLite gives it when asked for safe integers. */
export function toStoredId(id: number | null): bigint | null {
  return id === null ? null : BigInt(id);
}
