/** Exports a mirror as a data package: its public tables at one instant, complete or absent. */
import { resolveDestination } from "./destination.ts";
import type { Compression } from "./formats/compression.ts";
import type { CsvProfile } from "./formats/csv.ts";
import type { ExportFormat } from "./formats/table.ts";
import { type ExportSource, requireRoom, withExport } from "./open-export.ts";
import type { Publication } from "./package/descriptor.ts";
import { type WrittenPackage, writeDataPackage } from "./package/write-package.ts";

export interface ExportMirrorRequest extends ExportSource {
  /**
   * The folder to make; an earlier data package there is replaced. In its last part, `{run}` is the number of the exported
   * run, and `{date}` the UTC date of its end.
   */
  readonly out: string;
  /** Each table gets a file in each of them. */
  readonly formats: readonly ExportFormat[];
  /** Of CSV files. Default: `guarded`. */
  readonly csv?: CsvProfile;
  /** Of CSV, JSON and NDJSON files. Default: none. */
  readonly compression?: Compression;
  readonly publication?: Publication;
  /** Armoire's version, for the descriptor. */
  readonly toolVersion: string;
}

/**
 * Exports tables of a mirror as a data package. On any error, the earlier content of `out` is unchanged.
 * @throws MirrorError, PointError, ExportError; FileError `disk-full` before anything is written
 */
export async function exportMirror(request: ExportMirrorRequest): Promise<WrittenPackage> {
  const { formats, csv, compression, publication, toolVersion, signal } = request;
  return await withExport(request, async (opened) => {
    const out = resolveDestination(request.out, opened.state);
    requireRoom(out, request, formats.length);
    return await writeDataPackage({
      ...opened,
      out,
      formats,
      toolVersion,
      ...(publication && { publication }),
      ...(csv && { csv }),
      ...(compression && { compression }),
      ...(signal ? { signal } : {}),
    });
  });
}
