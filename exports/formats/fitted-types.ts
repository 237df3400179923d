/** The types that the cells of columns really have: for formats with typed columns (Parquet, SQLite), and for readers of CSV. */
import { describeColumn } from "../../schema/dictionary/columns.ts";
import type { ColumnType } from "../../schema/dictionary/table-meaning.ts";
import type { Cell } from "../../schema/fields.ts";
import { type CsvProfile, toCsvText } from "./csv.ts";
import { rememberTexts } from "./remembered-texts.ts";
import type { ExportTable, Row } from "./table.ts";

/** `text` holds any cell: of a number, its digits. */
export type FittedType = Exclude<ColumnType, "any" | "url">;

export interface FittedColumn {
  readonly name: string;
  readonly type: FittedType;
  /** Whether no other type fits all cells, so that the column is text. */
  readonly isMixed: boolean;
}

export interface ColumnFitter {
  /** Of the rows so far. */
  readonly columns: readonly FittedColumn[];
  /** Whether every cell fits the type of its column so far. */
  add(row: Row): boolean;
}

/**
 * A column has the type of the dictionary if every cell fits it exactly, else it is text. For example, a number that a double
 * would change is text in the mirror, and makes its column text.
 */
export function columnFitter(
  { name: table, columns: names }: Pick<ExportTable, "name" | "columns">,
  fitsType: (cell: NonNullable<Cell>, type: FittedType) => boolean = fits,
  holdsAny: (type: FittedType) => boolean = () => false,
): ColumnFitter {
  const columns = names.map((name) => ({ name, type: declaredType(table, name), isMixed: false }));
  let open = columns
    .map((column, index) => ({ column, index, last: null as Cell }))
    .filter(({ column }) => !holdsAny(column.type));
  return {
    columns,
    add(row) {
      const before = open;
      for (const checked of before) {
        const { column, index } = checked;
        const cell = row[index] ?? null;
        // Many cells equal the one above, which takes less time to see.
        if (cell === null || cell === checked.last) continue;
        if (fitsType(cell, column.type)) {
          checked.last = cell;
          continue;
        }
        column.type = "text";
        column.isMixed = true;
        open = open.filter((other) => !other.column.isMixed);
      }
      return open === before;
    },
  };
}

export interface FittedTable {
  readonly table: ExportTable;
  readonly columns: readonly FittedColumn[];
}

/**
 * Writes tables with the types of the dictionary, which nearly all cells fit, so that the tables are read once. If one does not,
 * what was written is discarded, and written again with the types that fit.
 * @throws what `write` throws, and the tables' rows
 */
export async function writeFitted<Tables extends readonly ExportTable[], Result>(
  tables: Tables,
  write: (fitted: FittedTables<Tables>) => Promise<Result>,
  discard: () => void,
): Promise<Result> {
  try {
    return await write(mapTables(tables, whileItFits));
  } catch (error) {
    if (!(error instanceof MisfitError)) throw error;
    discard();
    return await write(mapTables(tables, (table) => ({ table, columns: fitColumns(table) })));
  }
}

/** One for each table. */
type FittedTables<Tables extends readonly ExportTable[]> = { readonly [Index in keyof Tables]: FittedTable };

const mapTables = <Tables extends readonly ExportTable[]>(
  tables: Tables,
  fit: (table: ExportTable) => FittedTable,
) => tables.map(fit) as FittedTables<Tables>;

/** A cell does not fit the type of its column in the dictionary. */
class MisfitError extends Error {
  override readonly name = "MisfitError";
}

function whileItFits(table: ExportTable): FittedTable {
  const { columns, add } = columnFitter(table);
  function* rows(): Generator<Row> {
    for (const row of table.rows()) {
      if (!add(row)) throw new MisfitError(`a cell of ${table.name} does not fit its column`);
      yield row;
    }
  }
  return { table: { ...table, rows }, columns };
}

/** Reads the table once. */
function fitColumns(table: ExportTable): readonly FittedColumn[] {
  const fitter = columnFitter(table);
  for (const row of table.rows()) fitter.add(row);
  return fitter.columns;
}

/** As readers of CSV see cells: a column of text holds any cell, and other types have neither apostrophes nor escapes. */
export function csvColumnFitter(table: ExportTable, profile: CsvProfile): ColumnFitter {
  const isUnchangedJson = rememberTexts((text) => isJson(text) && toCsvText(text, profile) === text);
  return columnFitter(
    table,
    (cell, type) =>
      type === "object" && typeof cell === "string" ? isUnchangedJson(cell) : fits(cell, type),
    (type) => type === "text" || type === "verbatim",
  );
}

/** For answers, which no dictionary describes: columns of whole numbers, numbers or text, as their cells are. */
export function inferColumns(names: readonly string[], rows: readonly Row[]): FittedColumn[] {
  return names.map((name, index) => {
    const cells = rows.flatMap((row) => row[index] ?? []);
    const all = (type: FittedType) => cells.every((cell) => fits(cell, type));
    if (all("verbatim")) return { name, type: "verbatim", isMixed: false };
    const type = (["integer", "number"] as const).find(all);
    return type === undefined ? { name, type: "verbatim", isMixed: true } : { name, type, isMixed: false };
  });
}

function declaredType(table: string, column: string): FittedType {
  const type = describeColumn(table, column)?.type ?? "text";
  return type === "any" || type === "url" ? "text" : type;
}

function fits(cell: NonNullable<Cell>, type: FittedType): boolean {
  switch (type) {
    case "integer":
      return typeof cell === "bigint" ? BigInt.asIntN(64, cell) === cell : Number.isSafeInteger(cell);
    case "number":
      return typeof cell === "number" || (typeof cell === "bigint" && BigInt(Number(cell)) === cell);
    case "boolean":
      return cell === 0n || cell === 1n || cell === 0 || cell === 1;
    case "time":
      return typeof cell === "string" && isUtcTime(cell);
    case "object":
      return typeof cell === "string" && isJson(cell);
    case "text":
    case "verbatim":
      return typeof cell === "string";
  }
}

/** Most times match it; parsing costs six times as much. The last days of a month are left to the parser. */
const surelyUtcTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const shapeOfUtcTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function isUtcTime(text: string): boolean {
  if (surelyUtcTime.test(text)) return true;
  const time = shapeOfUtcTime.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString() === text;
}

/** An object of short texts, as most are. Parsing takes ten times as long. */
const surelyJson = /^\{"[ !#-[\]-~]*":"[ !#-[\]-~]*"(?:,"[ !#-[\]-~]*":"[ !#-[\]-~]*")*\}$/;

function isJson(text: string): boolean {
  if (surelyJson.test(text)) return true;
  try {
    JSON.parse(text);
    return text.isWellFormed();
  } catch {
    return false;
  }
}
