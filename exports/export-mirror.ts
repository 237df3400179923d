/** Exports a mirror as a data package: its public tables at one instant, complete or absent. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Point } from "../src/mirror/points/point.ts";
import { type PublicTable, publicTables } from "../src/mirror/public-tables.ts";
import { type MirrorReader, readMirror } from "../src/mirror/reader.ts";
import { describeCoverage } from "../src/mirror/runs/coverage.ts";
import { type ReadFreeBytes, requireFreeSpace, workingBytes } from "../src/platform/files/free-space.ts";
import { ExportError } from "./errors.ts";
import { describeExported, findReferences } from "./exported-state.ts";
import type { Compression } from "./formats/compression.ts";
import type { CsvProfile } from "./formats/csv.ts";
import type { ExportedState, Publication } from "./package/descriptor.ts";
import { type WrittenPackage, writeDataPackage } from "./package/write-package.ts";
import type { ExportFormat } from "./package/write-tables.ts";
import { beginWithCondition, type RowCondition } from "./row-condition.ts";
import { readSelection } from "./selection.ts";

export interface ExportMirrorRequest {
  readonly file: string;
  /**
   * The folder to make; an earlier data package there is replaced. In its last part, `{run}` is the number of the exported
   * run, and `{date}` the UTC date of its end.
   */
  readonly out: string;
  readonly formats: readonly ExportFormat[];
  /** Only these tables; all that have rows if empty. */
  readonly tables: readonly string[];
  /** Only these columns, and only tables that have one. Default: all. */
  readonly columns?: readonly string[];
  /** Only rows of these brands (name, slug or URL), and of their models and sizes. Default: all. */
  readonly brands?: readonly string[];
  /** Only rows of resources that changed after this point. Default: all. */
  readonly changedSince?: Point;
  /** Only rows that meet it; with exactly one table. Default: all. */
  readonly where?: RowCondition;
  /** Of CSV files. Default: `guarded`. */
  readonly csv?: CsvProfile;
  /** Of CSV, JSON and NDJSON files. Default: none. */
  readonly compression?: Compression;
  /** Exports the mirror as it was then. The data files equal those of an export made at that time. */
  readonly asOf?: Point;
  /** Writes nothing unless the exported tables are complete. Default: false. */
  readonly requireComplete?: boolean;
  readonly publication?: Publication;
  readonly toolVersion: string;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
  readonly signal?: AbortSignal;
}

/** @throws MirrorError, PointError, ExportError; FileError `disk-full` before anything is written */
export async function exportMirror(request: ExportMirrorRequest): Promise<WrittenPackage> {
  const { file, formats, csv, compression, publication, toolVersion, where, signal } = request;
  const write = async (mirror: MirrorReader): Promise<WrittenPackage> => {
    // One read transaction: one instant of the mirror, while a sync may write it.
    if (where === undefined) mirror.db.exec("begin");
    else await beginWithCondition(mirror, onlyTable(mirror, request.tables), where, signal);
    const selection = readSelection(mirror, request);
    const all = publicTables(mirror, selection);
    const { tables, emptyTables } = chooseTables(all, request.tables);
    const isChoice = request.tables.length > 0 || selection.columns !== undefined;
    const exported = isChoice ? [...tables, ...emptyTables].map(({ name }) => name) : [];
    const described = describeExported(mirror, exported, selection, where?.sql);
    const out = expandName(request.out, described.state);
    requireFreeSpace(
      {
        folder: dirname(resolve(out)),
        // Some tables may be small. All of them take more than a quarter of the mirror, once for each format.
        bytes: workingBytes + (request.tables.length === 0 ? (formats.length * statSync(file).size) / 4 : 0),
        purpose: "The export",
      },
      request.readFreeBytes,
    );
    if (request.requireComplete === true && !described.coverage.complete)
      throw new ExportError(
        "incomplete",
        `Nothing was written. ${describeCoverage(described.coverage)}`,
        "Run `armoire sync` until the mirror is complete, or leave out --require-complete.",
      );
    return await writeDataPackage({
      out,
      formats,
      tables,
      isPrivate: mirror.identity.area === "account",
      emptyTables,
      ...described,
      toolVersion,
      // The row that a changed one refers to may be unchanged.
      references: selection.changedAfterRun === undefined ? findReferences(mirror, tables) : [],
      ...(publication && { publication }),
      ...(csv && { csv }),
      ...(compression && { compression }),
      ...(signal ? { signal } : {}),
    });
  };
  return await readMirror(file, write, request.asOf);
}

/** @throws ExportError */
function onlyTable(mirror: MirrorReader, names: readonly string[]): PublicTable {
  readSelection(mirror, { tables: names });
  const [table, ...others] = publicTables(mirror).filter(({ name }) => names.includes(name));
  if (table !== undefined && others.length === 0) return table;
  throw new ExportError(
    "bad-condition",
    "A condition is about the columns of one table.",
    "Give exactly one --table with --where.",
  );
}

/** A package has at least one table, so if all are empty, all are chosen. */
function chooseTables(all: readonly PublicTable[], names: readonly string[]) {
  if (names.length > 0) return { tables: all.filter(({ name }) => names.includes(name)), emptyTables: [] };
  const emptyTables = all.filter(isEmpty);
  if (emptyTables.length === all.length) return { tables: all, emptyTables: [] };
  return {
    tables: all.filter((table) => !emptyTables.includes(table)),
    emptyTables: emptyTables.map(({ name, columns }) => ({ name, columns })),
  };
}

function isEmpty({ rows }: PublicTable): boolean {
  for (const _row of rows()) return false;
  return true;
}

/** Replaces `{run}` and `{date}`. @throws ExportError */
function expandName(out: string, { run, endedAt }: ExportedState): string {
  if (!/\{(run|date)\}/.test(out)) return out;
  if (/\{(run|date)\}/.test(dirname(out)))
    throw new ExportError(
      "bad-folder-name",
      `{run} and {date} can only be in the last part of a path: ${out}`,
      "For example: exports/catalogue-{date}.",
    );
  if (run !== null && endedAt === null)
    throw new ExportError(
      "nothing-held",
      "The run that would name the folder has not ended.",
      "Wait for the sync, or export the last ended run with --as-of latest.",
    );
  if (run === null || endedAt === null)
    throw new ExportError(
      "nothing-held",
      "The mirror has no ended run to name the folder after.",
      "Run `armoire sync` first, or give --out without {run} and {date}.",
    );
  return out.replaceAll("{run}", String(run)).replaceAll("{date}", endedAt.slice(0, 10));
}
