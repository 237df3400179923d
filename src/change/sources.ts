/** The states that can be compared: an export's folder, and a mirror at one point. Each can be read as sorted tables. */
import type { Cell } from "../../schema/fields.ts";
import { toMirrorError } from "../mirror/file/errors.ts";
import { createAsOfViews } from "../mirror/past/as-of.ts";
import type { Point } from "../mirror/points/point.ts";
import { resolvePoint } from "../mirror/points/resolve-point.ts";
import { publicTables } from "../mirror/public-tables.ts";
import { type MirrorReader, openMirrorReader } from "../mirror/reader.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { type Coverage, coverageOfTables, readCoverage } from "../mirror/runs/coverage.ts";
import { ChangeError } from "./errors.ts";
import type { StateTable } from "./items.ts";
import { createLabelFinder, createTableLabels, type FindLabels } from "./keys.ts";

/** A mirror as it was when a run had ended. */
export interface MirrorLocation {
  /** The file. */
  readonly mirror: string;
  /** A run that has ended; 0 is the empty mirror before the first one. */
  readonly run: number;
  /** ISO 8601; null before the first run. */
  readonly endedAt: string | null;
}

/** An export; `run` is the one that it states. */
export interface FolderLocation {
  readonly folder: string;
  /** Null if the export states none. */
  readonly run: number | null;
}

export type SourceLocation = MirrorLocation | FolderLocation;

/** One side of a comparison. */
export interface DiffSource {
  readonly place: SourceLocation;
  /** Of the service; null for an export that does not record it. */
  readonly baseUrl: string | null;
}

/** A state that can be read. */
export interface OpenSource extends DiffSource, NamedResources {
  /** Whether numbers are distinct from text: in CSV they are not. */
  readonly isTyped: boolean;
  readonly tables: readonly StateTable[];
  /** Of the kinds that these tables are made of; null for an export that does not record it. */
  coverage(tables: readonly string[]): Coverage | null;
  readonly findLabels: FindLabels;
  close(): void;
}

/** What a filter can name, also if the tables hold only some. */
export interface NamedResources {
  brands(): Iterable<Named>;
  models(): Iterable<Named>;
}

export interface Named {
  readonly href: Cell;
  /** All that people call it: the one for suggestions first, the key in output last. */
  readonly names: readonly Cell[];
}

const toNamed = {
  brand: ([href = null, name = null, slug = null]: readonly Cell[]): Named => ({ href, names: [name, slug] }),
  model: ([
    href = null,
    full = null,
    name = null,
    code = null,
    slug = null,
    brandSlug = null,
  ]: readonly Cell[]): Named => ({
    href,
    names: [full, name, code, slug, `${brandSlug}/${slug}`],
  }),
};
const nameColumns = {
  brand: ["href", "name", "slug"],
  model: ["href", "full_name", "name", "code", "slug", "brand_slug"],
} as const;

/** Opens an export after checking its files. @throws ExportError */
export async function openFolderSource(folder: string): Promise<OpenSource> {
  // Loaded only here: most comparisons are of two runs, and start sooner without it.
  const { readDataPackage } = await import("../../exports/package/read-package.ts");
  const { contents, tables, close } = await readDataPackage(folder);
  const { baseUrl, run, brands, changedAfterRun, where } = contents.state;
  if (brands !== undefined || changedAfterRun !== undefined || where !== undefined) {
    close();
    throw new ChangeError(
      "not-comparable",
      `The export ${folder} has only some rows, so the others would look removed.`,
      "Compare with an export that was made without --brand, --changed-since and --where.",
    );
  }
  if (!contents.files.some(({ table }) => tables.some(({ name }) => name === table))) {
    close();
    throw new ChangeError(
      "not-comparable",
      `The export ${folder} has no table in CSV, JSON or NDJSON.`,
      "Compare with an export in one of these formats, or with a run.",
    );
  }
  const labels = createTableLabels(tables);
  return {
    place: { folder, run },
    baseUrl,
    isTyped: tables.every(({ isTyped }) => isTyped),
    tables,
    coverage: (of) => (contents.coverage === undefined ? null : coverageOfTables(contents.coverage, of)),
    brands: () => namedInTable("brand", tables),
    models: () => namedInTable("model", tables),
    findLabels: labels.find,
    close() {
      labels.close();
      close();
    },
  };
}

/** Opens a mirror as it was at a point. @throws MirrorError, PointError */
export function openMirrorSource(file: string, point: Point): OpenSource {
  return openSnapshot(file, (mirror) => {
    const ended = resolvePoint(mirror.db, point);
    return sourceAt(mirror, { mirror: file, ...ended });
  });
}

/** From now on the connection shows the state at `place`, and nothing else. */
export function sourceAt(mirror: MirrorReader, place: MirrorLocation): OpenSource {
  createAsOfViews(mirror.db, place.run);
  return {
    place,
    baseUrl: mirror.identity.baseUrl,
    isTyped: true,
    tables: publicTables(mirror),
    coverage: (of) => coverageAt(mirror, place, of),
    ...namedIn(mirror),
    findLabels: createLabelFinder(mirror.db, place.run),
    close: mirror.close,
  };
}

/** Null before the first run. */
export function coverageAt(
  { db }: MirrorReader,
  { run, endedAt }: Pick<MirrorLocation, "run" | "endedAt">,
  tables: readonly string[],
): Coverage | null {
  return endedAt === null ? null : readCoverage({ db, asOf: { run, endedAt } }, tables);
}

function* namedInTable(name: "brand" | "model", tables: readonly StateTable[]): Generator<Named> {
  const table = tables.find((other) => other.name === name);
  const indexes = nameColumns[name].map((column) => table?.columns.indexOf(column) ?? -1);
  for (const row of table?.rows() ?? []) yield toNamed[name](indexes.map((index) => row[index] ?? null));
}

/** All that a mirror holds now. */
export function namedIn({ db }: MirrorReader): NamedResources {
  function* read(name: "brand" | "model"): Generator<Named> {
    // Raw: `main.brand` is a view, also where a temporary view hides it.
    const rows = db
      .prepare(`select ${nameColumns[name].join(", ")} from main.${name}`)
      .raw()
      .safeIntegers()
      .iterate();
    for (const row of rows as Iterable<unknown[]>) yield toNamed[name](row.map(fromStored));
  }
  return { brands: () => read("brand"), models: () => read("model") };
}

/**
 * Opens a mirror in one read transaction: everything read through it is of one instant, also while a sync writes. It stays
 * open, unless `use` fails.
 */
export function openSnapshot<Result>(file: string, use: (mirror: MirrorReader) => Result): Result {
  const mirror = openMirrorReader(file);
  try {
    mirror.db.exec("begin");
    return use(mirror);
  } catch (error) {
    mirror.close();
    throw toMirrorError(error, file);
  }
}
