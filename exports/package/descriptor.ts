/**
 * `datapackage.json`: describes the files of an export as a Data Package (version 2, https://datapackage.org). Here is what it
 * says, and how it is read; `to-descriptor.ts` writes it. The property `armoire` holds what the standard lacks.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { listOf } from "../../schema/input/list-shape.ts";
import { parseRoundedJsonOrThrow } from "../../schema/json.ts";
import { isSystemError } from "../../src/platform/errors.ts";
import { readRegularFile } from "../../src/platform/files/regular-files.ts";
import { ExportError } from "../errors.ts";
import type { Compression } from "../formats/compression.ts";
import { type CsvProfile, csvProfiles } from "../formats/csv.ts";
import {
  companionNames,
  descriptorName,
  formatVersion,
  hashPrefix,
  sqliteName,
  tableNames,
} from "./names.ts";
import { isSealed } from "./seal.ts";

const tableName = z.string().regex(tableNames);
const count = z.number().int().nonnegative();
const hash = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const foreignKey = z.object({
  fields: z.tuple([z.string()]),
  reference: z.object({ resource: z.string(), fields: z.tuple([z.string()]) }),
});

const resource = z
  .object({
    path: z.string(),
    table: tableName,
    format: z.string().regex(/^[a-z]+$/),
    compression: z.enum(["gz", "zst"]).optional(),
    decompressedBytes: count.optional(),
    rows: count,
    bytes: count,
    hash,
    name: z.string(),
    schema: z.object({
      fields: listOf(z.object({ name: z.string(), type: z.string().optional() })),
      primaryKey: listOf(z.string()).optional(),
      foreignKeys: listOf(foreignKey).optional(),
    }),
  })
  // Only paths that an export writes are ever opened.
  .refine(({ path, table, format, compression }) => {
    if (format === "sqlite") return path === sqliteName;
    return path === `${table}.${format}${compression === undefined ? "" : `.${compression}`}`;
  });

const kindCoverage = z.object({
  kind: z.string(),
  known: count,
  held: count,
  due: count,
  failed: count,
  gone: count,
  partial: count,
  missingLinks: count.default(0),
  awaitingApproval: count,
  oldestCheckAt: z.string().nullable(),
  newestCheckAt: z.string().nullable(),
  /** Of the held resources; absent without snapshots, where the service has sent all of them itself. */
  confirmed: z.object({ bytes: z.number(), validator: z.number(), unconfirmed: z.number() }).optional(),
});

const exportedState = z.object({
  /** The service's base URL. */
  baseUrl: z.string(),
  /** The last run that changed anything; null before the first. */
  run: z.number().nullable(),
  /** When that run ended: ISO 8601, UTC; null while it is running. */
  endedAt: z.string().nullable(),
  /** The run that was asked for, if the export is of an earlier state. */
  asOf: z.number().optional(),
  /** The URLs of brands, if it has only rows of these. */
  brands: listOf(z.string()).optional(),
  /** If it has only rows of resources that changed after this run. */
  changedAfterRun: z.number().optional(),
  /** An SQL condition, if it has only rows that meet it. */
  where: z.string().optional(),
  /** If it has only these columns. */
  columns: listOf(z.string()).optional(),
});

const coverage = z.object({ complete: z.boolean(), kinds: listOf(kindCoverage) });

/** Strict, so that a damaged name is found. */
const own = z.strictObject({
  ...exportedState.shape,
  formatVersion: z.literal(formatVersion),
  /** Of the file itself, with zeros in its place. The first exports have none. */
  descriptorHash: hash.optional(),
  toolVersion: z.string(),
  csv: z.enum(csvProfiles),
  coverage: coverage.optional(),
  emptyTables: listOf(z.object({ name: tableName, columns: listOf(z.string()) })).optional(),
  companions: listOf(z.object({ path: z.enum(companionNames), bytes: count, hash })),
});

const descriptor = z.object({ armoire: own, resources: listOf(resource) });
const anyVersion = z.object({ armoire: z.object({ formatVersion: z.number() }) });

/** The state that was exported. */
export type ExportedState = z.infer<typeof exportedState>;

/** A file of a data package. */
export interface HashedFile {
  /** Relative to the folder of the package. */
  readonly path: string;
  /** The size of the file as it is on the disk. */
  readonly bytes: number;
  /** Of the file, in hexadecimal digits. */
  readonly sha256: string;
}

/** A table in one format. */
export interface PackageFile extends HashedFile {
  /** The table whose rows the file holds. */
  readonly table: string;
  /** `csv`, `json`, `ndjson` or `parquet`. */
  readonly format: string;
  /** The number of rows, without a header. */
  readonly rows: number;
  /** In the order of the file. */
  readonly columns: readonly string[];
  /** `bytes` and `sha256` are those of the compressed file. */
  readonly compression?: Compression;
  /** The size without compression; absent if the file is not compressed. */
  readonly decompressedBytes?: number;
  /** Columns that are text in this file because a cell does not fit their type. Not of JSON and NDJSON. */
  readonly mixedColumns?: readonly string[];
}

export interface PackageContents {
  /** Of Armoire. */
  readonly toolVersion: string;
  /** The mirror and the run that were exported. */
  readonly state: ExportedState;
  /** How whole and how fresh the exported state is; absent for tables that are not of a mirror. */
  readonly coverage?: z.infer<typeof coverage>;
  /** Of CSV files. */
  readonly csv: CsvProfile;
  /** One for each table and format. */
  readonly files: readonly PackageFile[];
  /** Tables without rows, which have no files. */
  readonly emptyTables?: readonly EmptyTable[];
  /** The README and the scripts that load the tables. */
  readonly companions: readonly HashedFile[];
}

export interface EmptyTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** What a publisher says about a package; the program knows none of it. */
export interface Publication {
  /** An SPDX identifier, or the URL of a licence. */
  readonly license?: string;
  /** How to cite the package. */
  readonly citation?: string;
}

/** What the descriptor states about the rows of a file. */
export interface FileConstraints {
  /** The columns that identify a row; empty if none do. */
  readonly key: readonly string[];
  /** The stated type of each column; undefined for any. */
  readonly types: readonly (string | undefined)[];
  /** Columns with keys of rows in another file, by its path. */
  readonly references: readonly { readonly column: string; readonly to: string }[];
}

export interface DescribedPackage {
  /** Whether the descriptor is byte for byte as it was written, if it has a hash. */
  readonly isIntact: boolean;
  readonly contents: PackageContents;
  readonly constraintsOf: (file: PackageFile) => FileConstraints;
}

/**
 * Reads the descriptor of the data package in a folder.
 * @throws ExportError `not-a-package`, `newer-package` or `damaged-package`; FileError `not-a-file`
 */
export async function readPackageContents(folder: string): Promise<PackageContents> {
  return (await readDescriptor(folder)).contents;
}

/** As `readPackageContents`, with the keys and references of each file. */
export async function readDescriptor(folder: string): Promise<DescribedPackage> {
  const path = join(folder, descriptorName);
  const text = readText(folder, path);
  const value = parseJson(text);
  if (value === undefined)
    throw new ExportError(
      "damaged-package",
      `${path} is damaged: it is not JSON.`,
      "Export again into another folder. Remove this one if you need nothing in it.",
    );
  const header = anyVersion.safeParse(value);
  if (!header.success) throw notAPackage(folder, `its ${descriptorName} is of another program`);
  if (header.data.armoire.formatVersion > formatVersion) {
    throw new ExportError(
      "newer-package",
      `${folder} has format ${header.data.armoire.formatVersion}; this version of Armoire reads format ${formatVersion}.`,
      "Use a newer version of Armoire, or choose another folder.",
    );
  }
  const read = descriptor.safeParse(value);
  if (read.success)
    return { isIntact: isSealed(text, read.data.armoire.descriptorHash), ...toDescribed(read.data) };
  throw new ExportError(
    "damaged-package",
    `${path} is damaged at ${read.error.issues[0]?.path.join(".") || "the top"}.`,
    "Export again into another folder. Remove this one if you need nothing in it.",
  );
}

function toDescribed(data: z.infer<typeof descriptor>): Omit<DescribedPackage, "isIntact"> {
  const { resources } = data;
  const pathOf = new Map(resources.map(({ name, path }) => [name, path]));
  return {
    contents: toContents(data),
    constraintsOf(file) {
      const found = resources.find(({ table, format }) => table === file.table && format === file.format);
      const { primaryKey: key = [], foreignKeys = [], fields = [] } = found?.schema ?? {};
      const references = foreignKeys.flatMap(({ fields: [column], reference: { resource } }) => {
        const to = pathOf.get(resource);
        return to === undefined ? [] : [{ column, to }];
      });
      return { key, types: fields.map(({ type }) => type), references };
    },
  };
}

function toContents({ armoire, resources }: z.infer<typeof descriptor>): PackageContents {
  const { formatVersion: _version, descriptorHash: _seal, ...stated } = armoire;
  const { toolVersion, csv, coverage, emptyTables, companions, ...state } = stated;
  const files = resources.map(({ name: _, schema, hash, compression, decompressedBytes, ...file }) => ({
    ...file,
    ...(compression && { compression: compression === "gz" ? ("gzip" as const) : ("zstd" as const) }),
    ...(decompressedBytes !== undefined && { decompressedBytes }),
    columns: schema.fields.map(({ name }) => name),
    sha256: hash.slice(hashPrefix.length),
  }));
  const others = companions.map(({ path, bytes, hash }) => ({
    path,
    bytes,
    sha256: hash.slice(hashPrefix.length),
  }));
  return {
    toolVersion,
    state,
    ...(coverage && { coverage }),
    csv,
    files,
    ...(emptyTables && { emptyTables }),
    companions: others,
  };
}

export function notAPackage(folder: string, reason: string): ExportError {
  return new ExportError(
    "not-a-package",
    `${folder} is not an export of Armoire: ${reason}.`,
    `Choose another folder. An export has ${descriptorName}, and a file for each table and format.`,
  );
}

const maxDescriptorBytes = 2 ** 24;

function readText(folder: string, path: string): string {
  try {
    return readRegularFile(path, maxDescriptorBytes).toString();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (!existsSync(folder))
      throw new ExportError("no-folder", `There is no folder: ${folder}`, "Give the folder of an export.");
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: `it has no ${descriptorName}`,
      ENOTDIR: "it is not a folder",
    };
    throw notAPackage(folder, reasons[error.code ?? ""] ?? error.message);
  }
}

function parseJson(text: string): unknown {
  try {
    return parseRoundedJsonOrThrow(text);
  } catch {
    return undefined;
  }
}
