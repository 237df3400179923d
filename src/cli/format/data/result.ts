/** Prints rows in the requested format. */
import { type CsvProfile, csvText } from "../../../../exports/formats/csv.ts";
import { writePlainSlice } from "../../../../exports/formats/escaped-text.ts";
import { jsonText, ndjsonText, quotePlain } from "../../../../exports/formats/json.ts";
import {
  distinctNames,
  exportFormats,
  type Row,
  type TableText,
  type TextFormat,
} from "../../../../exports/formats/table.ts";
import type { Cell } from "../../../../schema/fields.ts";
import type { Coverage } from "../../../mirror/runs/coverage.ts";
import { gapsOf } from "../../../mirror/runs/describe-coverage.ts";
import { formatNumber } from "../../../presentation/numbers.ts";
import { formatMinute } from "../../../presentation/times.ts";
import type { QueryResult } from "../../../query/sql/run-query.ts";
import type { Settings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import type { Io, Writer } from "../../terminal/io.ts";
import { escapeControls, escapeLines } from "../../terminal/safe-text.ts";
import { fittedLines, tableLines } from "../../terminal/table/text-table.ts";

const texts: Readonly<Record<TextFormat, (columns: readonly string[], csv: CsvProfile) => TableText>> = {
  csv: (columns, csv) => csvText(columns, csv, { write: writePlainSlice }),
  json: (columns) => jsonText(columns, { quote: quotePlain }),
  ndjson: (columns) => ndjsonText(columns, { quote: quotePlain }),
};

export type ResultFormat = "table" | TextFormat;

export const fileFormats = [...exportFormats, "table"] as const;
export type FileFormat = (typeof fileFormats)[number];

export async function printResult(
  result: Pick<QueryResult, "columns" | "rows" | "batches">,
  format: ResultFormat,
  csv: CsvProfile,
  { out, screen, hasReader }: Pick<Io, "out" | "screen" | "hasReader">,
): Promise<void> {
  if (format === "table" && screen !== null) {
    const lines = fittedLines(result.columns.map(shorten), await collect(result.rows), screen.columns);
    await screen.print([...lines].map((text) => ({ text })));
    return;
  }
  for await (const text of resultChunks(result, format, csv)) {
    await out(text);
    if (!hasReader()) return;
  }
}

/** The text of a result. A table begins after its last row; the other formats while rows are read, in constant memory. */
export async function* resultChunks(
  { columns, rows, batches }: Pick<QueryResult, "columns" | "rows" | "batches">,
  format: ResultFormat,
  csv: CsvProfile,
): AsyncGenerator<string> {
  if (format !== "table") {
    const names = format === "csv" ? columns : distinctNames(columns);
    const { head, addRows, tail } = texts[format](names, csv);
    const safe = (text: string) => (format === "csv" ? text : escapeLines(text));
    yield safe(head);
    for await (const batch of batches) for (const piece of addRows(batch)) yield safe(piece);
    yield safe(tail);
    return;
  }
  let pending = "";
  for (const line of tableLines(columns.map(shorten), await collect(rows))) {
    pending += `${line}\n`;
    if (pending.length < writtenAtOnce) continue;
    yield pending;
    pending = "";
  }
  yield pending;
}

/** The rows of a table, with long cells shortened. @throws CliError if they are too large */
async function collect(rows: AsyncIterable<Row>): Promise<Row[]> {
  const collected: Row[] = [];
  let length = 0;
  for await (const row of rows) {
    const shown = row.map(shorten);
    for (const cell of shown) length += typeof cell === "string" ? cell.length : numberLength;
    if (length > maxTableLength) throw tableTooLarge();
    collected.push(shown);
  }
  return collected;
}

/** Characters of a cell that a table shows. */
const maxCellLength = 1000;
/** Characters that are kept in memory to align them. */
const maxTableLength = 2 ** 25;
const numberLength = 8;
const writtenAtOnce = 32_768;

/** A copy: a slice would keep the whole text in memory. */
function shorten<Value extends Cell>(cell: Value): Value | string {
  if (typeof cell !== "string" || cell.length <= maxCellLength) return cell;
  return `${Buffer.from(cell.slice(0, maxCellLength - 1), "utf16le").toString("utf16le")}…`;
}

function tableTooLarge(): CliError {
  return new CliError(
    "failed",
    `The result is too large for a table: more than ${maxTableLength} characters.`,
    "Use --format csv, json or ndjson, or select fewer rows.",
  );
}

/** In JSON, characters that are unsafe on a terminal are always escaped: the text means the same. */
export function writerOf(format: ResultFormat, write: Writer): Writer {
  return format === "json" || format === "ndjson" ? (text) => write(escapeLines(text)) : write;
}

/** The same for rows in memory. */
export function printRows(
  columns: readonly string[],
  rows: readonly Row[],
  format: ResultFormat,
  csv: CsvProfile,
  io: Pick<Io, "out" | "screen" | "hasReader">,
): Promise<void> {
  return printResult({ columns, rows: each(rows), batches: each([rows]) }, format, csv, io);
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** @param option the option that raises the limit */
export function truncationNotice(
  { maxRows, total }: Pick<QueryResult, "maxRows" | "total">,
  option: string,
  { quiet }: Settings,
  io: Io,
): void {
  const shown =
    total === null
      ? `Only the first ${formatNumber(maxRows)}`
      : `${formatNumber(maxRows)} of ${formatNumber(total)} rows`;
  if (!quiet) io.err(`${shown} are shown; ${option} raises the limit.\n`);
}

/**
 * One line on stderr, unless everything that an answer depends on is held.
 * @param coverage null if it depends on nothing that a mirror counts
 */
export const printGaps = (
  coverage: Coverage | null,
  settings: Pick<Settings, "quiet">,
  io: Pick<Io, "err">,
  prefix = "",
): void =>
  printNotices(
    gapsOf(coverage, formatMinute).map((gap) => prefix + gap),
    settings,
    io,
  );

/** On stderr, not with --quiet. */
export function printNotices(
  lines: readonly string[],
  { quiet }: Pick<Settings, "quiet">,
  io: Pick<Io, "err">,
): void {
  if (!quiet) for (const line of lines) io.err(`${escapeControls(line)}\n`);
}

/** The same for the answer of a query. */
export function printGapsOfQuery(
  { mirror, catalogue }: QueryResult["coverage"],
  settings: Pick<Settings, "quiet">,
  io: Pick<Io, "err">,
): void {
  printGaps(mirror, settings, io);
  printGaps(catalogue, settings, io, "Catalogue: ");
}
