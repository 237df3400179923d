import { csvChunks } from "../../../exports/formats/csv.ts";
import { jsonChunks } from "../../../exports/formats/json.ts";
import type { PublicTable } from "../../mirror/public-tables.ts";
import type { NewEntry } from "../container/zip-writer.ts";

/** A table as two entries: CSV for spreadsheets, and JSON, which is exact. */
export function* tableEntries(
  table: PublicTable,
  nameOf: (table: string, format: "csv" | "json") => string,
): Generator<NewEntry> {
  yield { name: nameOf(table.name, "csv"), content: bufferOf(csvChunks(table, "guarded")) };
  yield { name: nameOf(table.name, "json"), content: bufferOf(jsonChunks(table)) };
}

const bufferOf = (chunks: Iterable<string>) => Buffer.concat([...chunks].map((chunk) => Buffer.from(chunk)));
