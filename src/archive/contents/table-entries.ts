import { csvChunks } from "../../../exports/formats/csv.ts";
import { jsonChunks } from "../../../exports/formats/json.ts";
import type { PublicTable } from "../../mirror/public-tables.ts";
import { partBytes } from "../container/row-parts.ts";
import type { NewEntry } from "../container/zip-writer.ts";

/** A table as two entries: CSV for spreadsheets, and JSON, which is exact. */
export function* tableEntries(
  table: PublicTable,
  nameOf: (table: string, format: "csv" | "json") => string,
): Generator<NewEntry> {
  yield { name: nameOf(table.name, "csv"), content: piecesOf(csvChunks(table, "guarded")) };
  yield { name: nameOf(table.name, "json"), content: piecesOf(jsonChunks(table)) };
}

/** Pieces that are large enough to be compressed one by one. */
export function* piecesOf(chunks: Iterable<string>): Generator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    const part = Buffer.from(chunk);
    parts.push(part);
    bytes += part.length;
    if (bytes < partBytes) continue;
    yield Buffer.concat(parts);
    [parts, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(parts);
}
