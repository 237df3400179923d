/** Exports tables of a mirror to a single SQLite file, without a folder and a descriptor. */
import type { Coverage } from "../src/mirror/runs/coverage.ts";
import { requireReplaceable } from "../src/platform/files/replaceable-files.ts";
import { resolveDestination, toWritingError, writeDatabase } from "./destination.ts";
import { writeFitted } from "./formats/fitted-types.ts";
import { type ExportSource, requireRoom, withExport } from "./open-export.ts";
import type { ExportedState } from "./package/descriptor.ts";
import { withCount } from "./package/write-tables.ts";

export interface ExportDatabaseRequest extends ExportSource {
  /** A file, in whose name `{run}` and `{date}` are replaced. */
  readonly out: string;
}

export interface ExportedDatabase {
  /** The absolute path. */
  readonly file: string;
  /** The number of rows in each table of the file. */
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
  /** The run that was exported. */
  readonly state: ExportedState;
  /** Of the kinds that the exported tables are made of. */
  readonly coverage: Coverage;
}

/**
 * Exports tables of a mirror as one SQLite file. The file is whole or as it was before.
 * @throws MirrorError, PointError, ExportError; FileError `disk-full` before anything is written; the signal's reason
 */
export async function exportDatabase(request: ExportDatabaseRequest): Promise<ExportedDatabase> {
  const { signal } = request;
  return await withExport(request, async ({ state, coverage, tables, references, isPrivate }) => {
    const file = resolveDestination(request.out, state);
    requireRoom(file, request, 1);
    const counted = tables.map(withCount);
    try {
      requireReplaceable(file);
      await writeFitted(
        counted,
        (fitted) => writeDatabase(file, fitted, references, { signal, isPrivate, coverage }),
        () => {},
      );
    } catch (error) {
      throw toWritingError(error, file);
    }
    return {
      file,
      tables: counted.map(({ name, count }) => ({ table: name, rows: count })),
      state,
      coverage,
    };
  });
}
