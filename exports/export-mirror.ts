/** Exports a mirror as a data package: its public tables at one instant, complete or absent. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { publicTables as publicTableMeanings } from "../schema/dictionary/public-tables.ts";
import { prepareColumn, q } from "../src/mirror/file/statements.ts";
import type { Point } from "../src/mirror/points/point.ts";
import { type PublicTable, publicTables, type TableSelection } from "../src/mirror/public-tables.ts";
import { type MirrorReader, readMirror } from "../src/mirror/reader.ts";
import { type Coverage, describeCoverage, readCoverage } from "../src/mirror/runs/coverage.ts";
import { type ReadFreeBytes, requireFreeSpace, workingBytes } from "../src/platform/files/free-space.ts";
import { ExportError } from "./errors.ts";
import type { CsvProfile } from "./formats/csv.ts";
import type { ExportedState, Publication } from "./package/descriptor.ts";
import type { Reference } from "./package/table-schema.ts";
import { type WrittenPackage, writeDataPackage } from "./package/write-package.ts";
import type { ExportFormat } from "./package/write-tables.ts";
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
  /** Of CSV files. Default: `guarded`. */
  readonly csv?: CsvProfile;
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
  const { file, formats, csv, publication, toolVersion, signal } = request;
  const write = async (mirror: MirrorReader): Promise<WrittenPackage> => {
    // One read transaction: one instant of the mirror, while a sync may write it.
    mirror.db.exec("begin");
    const selection = readSelection(mirror, request);
    const all = publicTables(mirror, selection);
    const { tables, emptyTables } = chooseTables(all, request.tables);
    const isChoice = request.tables.length > 0 || selection.columns !== undefined;
    const exported = isChoice ? [...tables, ...emptyTables].map(({ name }) => name) : [];
    const described = describeExported(mirror, exported, selection);
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
      ...(signal ? { signal } : {}),
    });
  };
  return await readMirror(file, write, request.asOf);
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

/**
 * The state that an export is of, and how whole it is: the same for every format.
 * @param tables the exported tables; all if empty
 */
export function describeExported(
  mirror: MirrorReader,
  tables: readonly string[],
  { brandHrefs, changedAfterRun, columns }: TableSelection = {},
): { readonly state: ExportedState; readonly coverage: Coverage } {
  const run = lastChangingRun(mirror);
  return {
    state: {
      baseUrl: mirror.identity.baseUrl,
      run,
      endedAt: run === null ? null : readEnd(mirror, run),
      ...(mirror.asOf && { asOf: mirror.asOf.run }),
      ...(brandHrefs && { brands: [...brandHrefs] }),
      ...(changedAfterRun !== undefined && { changedAfterRun }),
      ...(columns && { columns: [...columns] }),
    },
    coverage: readCoverage(mirror, tables.length === 0 ? undefined : tables),
  };
}

function readEnd({ db }: MirrorReader, run: number): string | null {
  const select = prepareColumn(db, (p: { run: number }) =>
    q.selectFrom("_run").select("ended_at").where("id", "=", p.run),
  );
  return select.get({ run }) ?? null;
}

/**
 * The references between the exported tables that hold for every row. In a mirror that is not complete, a model may refer to a
 * brand that is not fetched yet. Raw SQL: tables by name.
 */
function findReferences({ db }: MirrorReader, tables: readonly PublicTable[]): Reference[] {
  const has = (name: string, column: string) =>
    tables.some((table) => table.name === name && table.columns.includes(column));
  return tables.flatMap(({ name: table }) =>
    Object.entries(publicTableMeanings[table]?.references ?? {})
      .filter(([column, to]) => has(table, column) && has(to, "href"))
      .map(([column, to]) => ({ table, column, to }))
      .filter(({ column, to }) => {
        const dangling = `select 1 from ${table} where ${column} is not null and ${column} not in (select href from ${to}) limit 1`;
        return db.prepare(dangling).get() === undefined;
      }),
  );
}

/** The last run that changed anything. Later runs leave the same state, so the export must have the same data files. */
function lastChangingRun({ db }: MirrorReader): number | null {
  const readMax = (column: "from_run" | "to_run") =>
    prepareColumn(db, () =>
      q.selectFrom("_revision").select(({ fn }) => fn.max<number | null>(column).as("run")),
    ).get() ?? null;
  const lastOpening = readMax("from_run");
  return lastOpening === null ? null : Math.max(lastOpening, readMax("to_run") ?? 0);
}
