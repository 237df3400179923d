/** Opens a mirror for an export: its tables at one instant, and what the export says about them. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Point } from "../src/mirror/points/point.ts";
import { type PublicTable, publicTables } from "../src/mirror/public-tables.ts";
import { type MirrorReader, readMirror } from "../src/mirror/reader.ts";
import type { Coverage } from "../src/mirror/runs/coverage.ts";
import { describeExportCoverage } from "../src/mirror/runs/describe-coverage.ts";
import { type ReadFreeBytes, requireFreeSpace, workingBytes } from "../src/platform/files/free-space.ts";
import { ExportError } from "./errors.ts";
import { describeExported, findReferences } from "./exported-state.ts";
import type { EmptyTable, ExportedState } from "./package/descriptor.ts";
import type { Reference } from "./package/table-schema.ts";
import { beginWithCondition } from "./row-condition.ts";
import { envelopeTable, readSelection, type SelectionRequest } from "./selection.ts";

/** What to export. */
export interface ExportSource extends SelectionRequest {
  /** The mirror. */
  readonly file: string;
  /** Exports the mirror as it was then. The data files equal those of an export made at that time. */
  readonly asOf?: Point;
  /** Writes nothing unless the exported tables are complete. Default: false. */
  readonly requireComplete?: boolean;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
  /** Cancels it; its reason is thrown. */
  readonly signal?: AbortSignal;
}

export interface OpenExport {
  readonly tables: readonly PublicTable[];
  readonly emptyTables: readonly EmptyTable[];
  readonly state: ExportedState;
  readonly coverage: Coverage;
  readonly references: readonly Reference[];
  /** Whether the files are for their owner only. */
  readonly isPrivate: boolean;
}

/** @throws MirrorError, PointError, ExportError; what `use` throws */
export async function withExport<Result>(
  source: ExportSource,
  use: (opened: OpenExport) => Promise<Result>,
): Promise<Result> {
  const { where, signal } = source;
  const open = async (mirror: MirrorReader): Promise<Result> => {
    // One read transaction: one instant of the mirror, while a sync may write it.
    if (where === undefined) mirror.db.exec("begin");
    else await beginWithCondition(mirror, onlyTable(mirror, source), where, signal);
    const selection = readSelection(mirror, source);
    const names = [...source.tables, ...(source.withEnvelopes ? [envelopeTable] : [])];
    const { tables, emptyTables } = chooseTables(
      publicTables(mirror, selection),
      source.tables.length === 0 ? [] : names,
    );
    const isChoice = source.tables.length > 0 || selection.columns !== undefined;
    const exported = isChoice ? [...tables, ...emptyTables].map(({ name }) => name) : [];
    const described = describeExported(mirror, exported, selection, where?.sql);
    if (source.requireComplete === true && !described.coverage.complete)
      throw new ExportError(
        "incomplete",
        `Nothing was written. ${describeExportCoverage(described.coverage)}`,
        "Run `armoire sync` until the mirror is complete, or leave out --require-complete.",
      );
    return await use({
      tables,
      emptyTables,
      ...described,
      // The row that a changed one refers to may be unchanged.
      references: selection.changedAfterRun === undefined ? findReferences(mirror, tables) : [],
      isPrivate: mirror.identity.area === "account",
    });
  };
  return await readMirror(source.file, open, source.asOf);
}

/**
 * Some tables may be small. All of them take more than a quarter of the mirror, once for each format.
 * @param place of the file or folder to be written
 * @throws FileError `disk-full`
 */
export function requireRoom(place: string, source: ExportSource, formats: number): void {
  const bytes = source.tables.length === 0 ? (formats * statSync(source.file).size) / 4 : 0;
  requireFreeSpace(
    { folder: dirname(place), bytes: workingBytes + bytes, purpose: "The export" },
    source.readFreeBytes,
  );
}

/** @throws ExportError */
function onlyTable(
  mirror: MirrorReader,
  { tables: names, withEnvelopes = false }: ExportSource,
): PublicTable {
  readSelection(mirror, { tables: names });
  // Envelopes are no table of a mirror, so no SQL reads them.
  const table = publicTables(mirror).find(({ name }) => names.includes(name));
  if (table !== undefined && names.length === 1 && !withEnvelopes) return table;
  throw new ExportError(
    "bad-condition",
    "A condition is about the columns of one table of the mirror.",
    "Give exactly one --table with --where, and no envelopes: `armoire query` selects those with envelope(href).",
  );
}

/** A package has at least one table, so if all are empty, all are chosen. */
function chooseTables(all: readonly PublicTable[], names: readonly string[]) {
  if (names.length > 0) return { tables: all.filter(({ name }) => names.includes(name)), emptyTables: [] };
  const emptyTables = all.filter((table) => table.isEmpty());
  if (emptyTables.length === all.length) return { tables: all, emptyTables: [] };
  return {
    tables: all.filter((table) => !emptyTables.includes(table)),
    emptyTables: emptyTables.map(({ name, columns }) => ({ name, columns })),
  };
}
