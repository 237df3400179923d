/** Where an export goes: a folder, an SQLite file, or with one table any file or standard output. In: options. Out: the target and its formats. */
import { statSync } from "node:fs";
import { basename, extname, sep } from "node:path";
import { type Compression, compressedEndings, compressions } from "../../../exports/formats/compression.ts";
import {
  type ExportFormat,
  exportFormats,
  formatOfName,
  isTextFormat,
  type TextFormat,
} from "../../../exports/formats/table.ts";
import type { PublicationFlags } from "../settings/publication.ts";
import { CliError } from "../terminal/exit-codes.ts";

export interface TargetFlags extends PublicationFlags {
  readonly out: string;
  readonly format?: string;
  readonly table: readonly string[];
  readonly compress?: Compression;
  readonly withEnvelopes?: boolean;
}

export type ExportTarget =
  | {
      readonly kind: "folder";
      readonly path: string;
      readonly formats: readonly ExportFormat[];
      readonly compression: Compression | null;
    }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly table: string;
      readonly format: ExportFormat;
      readonly compression: Compression | null;
    }
  /** Several tables in one SQLite file. */
  | { readonly kind: "database"; readonly path: string }
  | { readonly kind: "output"; readonly table: string; readonly format: TextFormat };

export const defaultFormats = "csv,json";

/** @throws CliError for options that contradict each other */
export function readTarget(flags: TargetFlags, { json }: { readonly json: boolean }): ExportTarget {
  const { out, compress: compression = null } = flags;
  if (out === "-") {
    requireForTable(flags, "--out -");
    if (json) throw contradiction("--json and --out -", "--format json writes the rows as JSON.");
    if (compression !== null)
      throw contradiction("--compress and --out -", "Pipe the output through gzip or zstd.");
    const [format, ...others] = readFormats(flags.format ?? "csv");
    if (format !== undefined && others.length === 0 && isTextFormat(format))
      return { kind: "output", table: tableOf(flags), format };
    throw new CliError("usage", "--out - needs one format: csv, json or ndjson.", "Give it with --format.");
  }
  const named = readName(out);
  if (named === null) {
    if (looksLikeFile(out)) throw unknownEnding(out);
    const formats = readFormats(flags.format ?? defaultFormats);
    if (compression !== null && !formats.some(isTextFormat)) throw notCompressible(formats);
    return { kind: "folder", path: out, formats, compression };
  }
  const { format } = named;
  const isDatabase = format === "sqlite";
  if (isDatabase) requireNoPublication(flags);
  else requireForTable(flags, `The name ${JSON.stringify(out)}`);
  if (named.compression !== null && !isTextFormat(format)) throw notCompressible([format]);
  if (flags.format !== undefined && flags.format !== format)
    throw contradiction(
      `--format ${flags.format} and the name ${JSON.stringify(out)}`,
      "Leave out --format, or give a name with another ending.",
    );
  if (compression !== null && compression !== named.compression)
    throw contradiction(
      `--compress ${compression} and the name ${JSON.stringify(out)}`,
      `Leave out --compress, or give a name that ends in ${compressedEndings[compression]}.`,
    );
  if (isDatabase && (flags.table.length !== 1 || flags.withEnvelopes)) return { kind: "database", path: out };
  return { kind: "file", path: out, table: tableOf(flags), format, compression: named.compression };
}

/** The format that a name ends with, such as `.csv` or `.csv.gz`; null for any other name, and for one that ends in a slash. */
function readName(name: string): { format: ExportFormat; compression: Compression | null } | null {
  if (isMarkedFolder(name)) return null;
  const lower = name.toLowerCase();
  const compression = compressions.find((method) => lower.endsWith(compressedEndings[method])) ?? null;
  const plain = compression === null ? lower : lower.slice(0, -compressedEndings[compression].length);
  const format = formatOfName(plain);
  return format === null ? null : { format, compression };
}

const isMarkedFolder = (name: string): boolean => name.endsWith("/") || name.endsWith(sep);

/** An ending is letters and digits and begins with a letter, so `catalogue-2026.11` has none. */
const looksLikeFile = (name: string): boolean =>
  !isMarkedFolder(name) &&
  /^\.[a-z][a-z0-9]*$/i.test(extname(basename(name))) &&
  statSync(name, { throwIfNoEntry: false })?.isDirectory() !== true;

const unknownEnding = (name: string) =>
  new CliError(
    "usage",
    `No export format has the ending ${extname(name)}: ${name}`,
    "Use .csv, .json or .ndjson (also with .gz or .zst), .parquet or .sqlite; or end the name of a folder with a slash.",
  );

const tableOf = ({ table: [table = ""] }: TargetFlags): string => table;

function requireForTable(flags: TargetFlags, what: string): void {
  const { table, withEnvelopes = false } = flags;
  if (table.length !== 1 || withEnvelopes)
    throw new CliError(
      "usage",
      `${what} is for one table.`,
      "Give exactly one --table, or the name of a folder without such an ending.",
    );
  requireNoPublication(flags);
}

function requireNoPublication({ license, citation }: TargetFlags): void {
  if (license !== undefined || citation !== undefined)
    throw new CliError(
      "usage",
      "--license and --citation are stated in a folder's datapackage.json.",
      "Leave them out, or give --out the name of a folder.",
    );
}

const contradiction = (what: string, hint: string) =>
  new CliError("usage", `${what} contradict each other.`, hint);

const notCompressible = (formats: readonly ExportFormat[]) =>
  new CliError(
    "usage",
    `Only CSV, JSON and NDJSON are compressed, not ${formats.join(" and ")}.`,
    "Leave out the compression. Parquet is compressed already.",
  );

const readFormats = (text: string): ExportFormat[] => text.split(",").map(readFormat);

function readFormat(name: string): ExportFormat {
  const format = exportFormats.find((known) => known === name.trim());
  if (format !== undefined) return format;
  throw new CliError(
    "usage",
    `Unknown export format ${JSON.stringify(name)}.`,
    `Use ${exportFormats.join(", ")}, or several with commas.`,
  );
}
