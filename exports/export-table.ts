/** Exports one table of a mirror to a single file, or as text to any destination: without a folder and a descriptor. */
import type { Coverage } from "../src/mirror/runs/coverage.ts";
import { writeOutput } from "../src/platform/atomic-file.ts";
import { requireReplaceable } from "../src/platform/files/replaceable-files.ts";
import { resolveDestination, toWritingError, writeTypedFile } from "./destination.ts";
import { ExportError } from "./errors.ts";
import { type Compression, compress, toBytes } from "./formats/compression.ts";
import type { CsvProfile } from "./formats/csv.ts";
import { writeFitted } from "./formats/fitted-types.ts";
import { type ExportFormat, type ExportTable, isTextFormat } from "./formats/table.ts";
import { type ExportSource, type OpenExport, requireRoom, withExport } from "./open-export.ts";
import type { ExportedState } from "./package/descriptor.ts";
import { textChunks, withCount } from "./package/write-tables.ts";

export interface ExportTableRequest extends Omit<ExportSource, "tables"> {
  /** The name of a public table, or `envelope`. */
  readonly table: string;
  readonly format: ExportFormat;
  /** A file, in whose name `{run}` and `{date}` are replaced; or what writes each piece of a text format. */
  readonly out: string | ((text: string) => Promise<void> | undefined);
  /** Of CSV. Default: `guarded`. */
  readonly csv?: CsvProfile;
  /** Of a file in a text format. Default: none. */
  readonly compression?: Compression;
}

export interface ExportedTable {
  /** The absolute path; null if it is no file. */
  readonly file: string | null;
  readonly table: string;
  readonly format: ExportFormat;
  /** The number of written rows. */
  readonly rows: number;
  /** The run that was exported. */
  readonly state: ExportedState;
  /** Of the kinds that the table is made of. */
  readonly coverage: Coverage;
}

/**
 * Exports one table of a mirror in one format. A file is whole or as it was before.
 * @throws MirrorError, PointError, ExportError; FileError `disk-full` before a file is written; the signal's reason
 */
export async function exportTable(request: ExportTableRequest): Promise<ExportedTable> {
  const { format, out } = request;
  return await withExport({ ...request, tables: [request.table] }, async (opened) => {
    const { state, coverage, tables } = opened;
    const [found] = tables;
    if (found === undefined)
      throw new ExportError("bad-selection", `The table ${request.table} has none of these columns.`);
    const table = withCount(found);
    const file = typeof out === "string" ? resolveDestination(out, state) : null;
    if (file !== null) {
      requireRoom(file, { ...request, tables: [request.table] }, 1);
      await writeFile(file, table, request, opened);
    } else if (typeof out === "function") await writeText(table, request, out);
    return { file, table: table.name, format, rows: table.count, state, coverage };
  });
}

async function writeText(
  table: ExportTable,
  { format, csv = "guarded", signal }: ExportTableRequest,
  write: (text: string) => Promise<void> | undefined,
): Promise<void> {
  for (const text of textOf(table, format, csv)) {
    signal?.throwIfAborted();
    await write(text);
  }
}

async function writeFile(
  file: string,
  table: ExportTable,
  { format, csv = "guarded", compression, signal }: ExportTableRequest,
  { isPrivate, coverage }: OpenExport,
): Promise<void> {
  try {
    requireReplaceable(file);
    if (format === "parquet" || format === "sqlite")
      return await writeFitted(
        [table] as const,
        ([fitted]) => writeTypedFile(file, format, fitted, { signal, isPrivate, coverage }),
        () => {},
      );
    const plain = textOf(table, format, csv);
    const chunks = compression === undefined ? plain : compress(toBytes(plain), compression, signal);
    await writeOutput(file, chunks, { signal, isPrivate });
  } catch (error) {
    throw toWritingError(error, file);
  }
}

function textOf(table: ExportTable, format: ExportFormat, csv: CsvProfile): Iterable<string> {
  if (isTextFormat(format)) return textChunks(table, format, csv);
  throw new ExportError("bad-selection", `${format} cannot be written as text.`, "Give a file with --out.");
}
