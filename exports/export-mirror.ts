/** Exports a mirror as a data package: its public tables at one instant, complete or absent. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { type ReadFreeBytes, requireFreeSpace, workingBytes } from "../src/platform/files/free-space.ts";
import { resolveDestination } from "./destination.ts";
import type { Compression } from "./formats/compression.ts";
import type { CsvProfile } from "./formats/csv.ts";
import type { ExportFormat } from "./formats/table.ts";
import { type ExportSource, withExport } from "./open-export.ts";
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
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
}

/**
 * Exports tables of a mirror as a data package. On any error, the earlier content of `out` is unchanged.
 * @throws MirrorError, PointError, ExportError; FileError `disk-full` before anything is written
 */
export async function exportMirror(request: ExportMirrorRequest): Promise<WrittenPackage> {
  const { file, formats, csv, compression, publication, toolVersion, signal } = request;
  return await withExport(request, async (opened) => {
    const out = resolveDestination(request.out, opened.state);
    requireFreeSpace(
      {
        folder: dirname(out),
        // Some tables may be small. All of them take more than a quarter of the mirror, once for each format.
        bytes: workingBytes + (request.tables.length === 0 ? (formats.length * statSync(file).size) / 4 : 0),
        purpose: "The export",
      },
      request.readFreeBytes,
    );
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
