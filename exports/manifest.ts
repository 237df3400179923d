/** A data package's table of contents, `manifest.json`: what each file is, and enough to see whether it still is that. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isSystemError } from "../src/platform/errors.ts";
import { ExportError } from "./errors.ts";

export const manifestName = "manifest.json";
export const packageFormat = "armoire-data-package";
export const packageFormatVersion = 1;

/** `manifest` is taken: as JSON it would be the manifest itself. */
const tableName = z.string().regex(/^(?!manifest$)[a-z_]+$/);

export const isTableName = (name: string): boolean => tableName.safeParse(name).success;

const fileEntry = z
  .object({
    path: z.string(),
    table: tableName,
    format: z.string().regex(/^[a-z]+$/),
    rows: z.number().int().nonnegative(),
    columns: z.array(z.string()),
    bytes: z.number().int().nonnegative(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })
  // A path that we would not have built ourselves is never opened.
  .refine((entry) => entry.path === `${entry.table}.${entry.format}`);

const manifest = z.object({
  format: z.literal(packageFormat),
  formatVersion: z.literal(packageFormatVersion),
  toolVersion: z.string(),
  /** What was exported, in the words of whoever asked for it: origin, run, … */
  about: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
  /** Whether formulas in CSV files are left as they are (see `csv-text.ts`). */
  raw: z.boolean(),
  files: z.array(fileEntry),
});

export type Manifest = z.infer<typeof manifest>;
export type ManifestFile = z.infer<typeof fileEntry>;

const anyVersion = z.object({ format: z.literal(packageFormat), formatVersion: z.number() });

export const manifestText = (contents: Manifest): string => `${JSON.stringify(contents, null, 2)}\n`;

/**
 * Reads the manifest of the data package in a folder.
 * @throws ExportError `not-a-package`, `newer-package` or `damaged-package`
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, manifestName);
  const value = parseJson(await readText(folder, path));
  const header = anyVersion.safeParse(value);
  if (!header.success) throw notAPackage(folder, `its ${manifestName} is not one of ours`);
  if (header.data.formatVersion > packageFormatVersion) {
    throw new ExportError(
      "newer-package",
      `${folder} is a data package of format ${header.data.formatVersion}, and this program reads format ${packageFormatVersion}`,
      "use a newer version of armoire, or choose another folder",
    );
  }
  const read = manifest.safeParse(value);
  if (read.success) return read.data;
  throw new ExportError(
    "damaged-package",
    `${path} is damaged at ${read.error.issues[0]?.path.join(".") || "the top"}`,
    "export again into another folder, and remove this one when nothing in it is needed",
  );
}

export function notAPackage(folder: string, reason: string): ExportError {
  return new ExportError(
    "not-a-package",
    `${folder} is no export of Armoire's: ${reason}`,
    `choose another folder; an export of Armoire's has ${manifestName} and a file for each table and format`,
  );
}

async function readText(folder: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isSystemError(error)) {
      const isThere = error.code !== "ENOENT";
      throw notAPackage(folder, isThere ? error.message : `there is no ${manifestName} in it`);
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
