/** `manifest.json`: the files of a data package, with sizes and checksums. */
import { join } from "node:path";
import { z } from "zod";
import { isSystemError } from "../src/platform/errors.ts";
import { readRegularFile } from "../src/platform/files/regular-files.ts";
import { csvProfiles } from "./csv.ts";
import { ExportError } from "./errors.ts";

export const manifestName = "manifest.json";
export const packageFormat = "armoire-data-package";
export const packageFormatVersion = 1;

/** `manifest.json` would be the manifest itself. */
const tableName = z.string().regex(/^(?!manifest$)[a-z_]+$/);

export const isTableName = (name: string): boolean => tableName.safeParse(name).success;

const count = z.number().int().nonnegative();

const fileEntry = z
  .object({
    path: z.string(),
    table: tableName,
    format: z.string().regex(/^[a-z]+$/),
    rows: count,
    columns: z.array(z.string()),
    bytes: count,
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })
  // Only paths that an export writes are ever opened.
  .refine((entry) => entry.path === `${entry.table}.${entry.format}`);

const kindCoverage = z.object({
  kind: z.string(),
  known: count,
  held: count,
  due: count,
  failed: count,
  gone: count,
  partial: count,
  awaitingApproval: count,
  oldestCheckAt: z.string().nullable(),
  newestCheckAt: z.string().nullable(),
});

const manifest = z.object({
  format: z.literal(packageFormat),
  formatVersion: z.literal(packageFormatVersion),
  toolVersion: z.string(),
  /** Facts about the exported state: base URL, run, … */
  about: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
  /** How whole and how fresh the exported state is; absent for tables that are not of a mirror. */
  coverage: z.object({ complete: z.boolean(), kinds: z.array(kindCoverage) }).optional(),
  /** Of CSV files. */
  csv: z.enum(csvProfiles),
  files: z.array(fileEntry),
});

export type Manifest = z.infer<typeof manifest>;
export type ManifestFile = z.infer<typeof fileEntry>;

const anyVersion = z.object({ format: z.literal(packageFormat), formatVersion: z.number() });

export const manifestText = (contents: Manifest): string => `${JSON.stringify(contents, null, 2)}\n`;

/**
 * Reads the manifest of the data package in a folder.
 * @throws ExportError `not-a-package`, `newer-package` or `damaged-package`; FileError `not-a-file`
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, manifestName);
  const value = parseJson(readText(folder, path));
  const header = anyVersion.safeParse(value);
  if (!header.success) throw notAPackage(folder, `its ${manifestName} is of another program`);
  if (header.data.formatVersion > packageFormatVersion) {
    throw new ExportError(
      "newer-package",
      `${folder} has format ${header.data.formatVersion}; this version of Armoire reads format ${packageFormatVersion}.`,
      "Use a newer version of Armoire, or choose another folder.",
    );
  }
  const read = manifest.safeParse(value);
  if (read.success) return read.data;
  throw new ExportError(
    "damaged-package",
    `${path} is damaged at ${read.error.issues[0]?.path.join(".") || "the top"}.`,
    "Export again into another folder. Remove this one if you need nothing in it.",
  );
}

export function notAPackage(folder: string, reason: string): ExportError {
  return new ExportError(
    "not-a-package",
    `${folder} is not an export of Armoire: ${reason}.`,
    `Choose another folder. An export has ${manifestName}, and a file for each table and format.`,
  );
}

const maxManifestBytes = 2 ** 24;

function readText(folder: string, path: string): string {
  try {
    return readRegularFile(path, maxManifestBytes).toString();
  } catch (error) {
    if (isSystemError(error)) {
      const isAbsent = error.code === "ENOENT";
      throw notAPackage(folder, isAbsent ? `it has no ${manifestName}` : error.message);
    }
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
