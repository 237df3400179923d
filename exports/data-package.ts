/**
 * Exports: tables as files for others, in a folder with a manifest. In: tables (names, columns, rows in order) and where
 * to put them. Out: that folder, complete or not at all; the same tables give the same bytes, so there is no clock here.
 * It must not know mirrors, SQL, or where the tables come from.
 */
import { lstatSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeHashedFile } from "../src/platform/atomic-file.ts";
import { isSystemError } from "../src/platform/errors.ts";
import { makePartialFolder, recoverFolder, replaceFolder, syncFolder } from "../src/platform/folders.ts";
import { csvChunks } from "./csv.ts";
import { ExportError } from "./errors.ts";
import { jsonChunks, ndjsonChunks } from "./json.ts";
import {
  isTableName,
  type Manifest,
  type ManifestFile,
  manifestName,
  manifestText,
  notAPackage,
  packageFormat,
  packageFormatVersion,
  readManifest,
} from "./manifest.ts";
import type { ExportTable } from "./table.ts";

const chunksByFormat = { csv: csvChunks, json: jsonChunks, ndjson: ndjsonChunks };

export type ExportFormat = keyof typeof chunksByFormat;
export const exportFormats: readonly ExportFormat[] = ["csv", "json", "ndjson"];

export interface DataPackageRequest {
  /** The folder to make; its parent exists. An earlier data package there is replaced. */
  readonly out: string;
  readonly formats: readonly ExportFormat[];
  readonly tables: readonly ExportTable[];
  /** Goes into the manifest as it is: origin, run, … but no time of day, and nothing secret. */
  readonly about: Manifest["about"];
  readonly toolVersion: string;
  /** Leaves formulas in CSV files as they are: for programs, not for spreadsheets. */
  readonly raw?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Writes a data package. Whatever goes wrong, what was at `out` before is still there and nothing is left beside it.
 * @throws ExportError, or what a table's rows throw, or the signal's reason
 */
export async function writeDataPackage(request: DataPackageRequest): Promise<Manifest> {
  const out = resolve(request.out);
  try {
    await recoverFolder(out);
    await refuseIfTaken(out);
    const folder = await makePartialFolder(out);
    try {
      const manifest = await writeFiles(folder, request);
      await refuseIfTaken(out);
      request.signal?.throwIfAborted();
      await replaceFolder(folder, out);
      return manifest;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = "make room or choose another folder; what was there before is unchanged";
    throw new ExportError("write-failed", `cannot write ${out}: ${error.message}`, hint, { cause: error });
  }
}

async function writeFiles(folder: string, request: DataPackageRequest): Promise<Manifest> {
  const files: ManifestFile[] = [];
  for (const table of request.tables) {
    if (!isTableName(table.name) || files.some((file) => file.table === table.name)) {
      const hint =
        "give each table a name of its own, of lower-case letters and underscores, other than `manifest`";
      throw new ExportError("bad-table-name", `${JSON.stringify(table.name)} cannot be a file's name`, hint);
    }
    for (const format of new Set(request.formats))
      files.push(await writeTable(folder, table, format, request));
  }
  const manifest: Manifest = {
    format: packageFormat,
    formatVersion: packageFormatVersion,
    toolVersion: request.toolVersion,
    about: request.about,
    raw: request.raw ?? false,
    files,
  };
  await writeHashedFile(join(folder, manifestName), [manifestText(manifest)], request.signal);
  syncFolder(folder);
  return manifest;
}

async function writeTable(
  folder: string,
  table: ExportTable,
  format: ExportFormat,
  { raw = false, signal }: DataPackageRequest,
): Promise<ManifestFile> {
  const { name, columns } = table;
  const path = `${name}.${format}`;
  let rowCount = 0;
  function* rows() {
    for (const row of table.rows()) {
      rowCount++;
      yield row;
    }
  }
  const chunks = chunksByFormat[format]({ name, columns, rows }, { raw });
  const { bytes, sha256 } = await writeHashedFile(join(folder, path), chunks, signal);
  return { path, table: name, format, rows: rowCount, columns: [...columns], bytes, sha256 };
}

/** An empty folder may be taken, and a data package of ours in which nobody has put anything else. */
async function refuseIfTaken(out: string): Promise<void> {
  const stats = lstatSync(out, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) {
    const hint = "give the folder that it points to, or choose another one";
    throw new ExportError(
      "symbolic-link",
      `${out} is a symbolic link, which an export does not replace`,
      hint,
    );
  }
  if (!stats.isDirectory()) throw notAPackage(out, "it is not even a folder");
  const names = await readdir(out);
  if (names.length === 0) return;
  const { files } = await readManifest(out);
  const ours = new Set([manifestName, ...files.map((file) => file.path)]);
  const stranger = names.find((name) => !ours.has(name));
  if (stranger !== undefined)
    throw notAPackage(out, `${stranger} in it is not listed in its ${manifestName}`);
}
