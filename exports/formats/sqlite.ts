/** All tables in one plain SQLite file: typed columns, keys, references, indexes and full-text search. */
import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { keyAmong, meaningOf } from "../../schema/dictionary/columns.ts";
import type { Cell } from "../../schema/fields.ts";
import { writeNewFile } from "../../src/platform/atomic-file.ts";
import { ExportError } from "../errors.ts";
import type { Reference } from "../package/table-schema.ts";
import { escapeText, writePlain } from "./escaped-text.ts";
import type { FittedColumn, FittedTable, FittedType } from "./fitted-types.ts";
import { type BatchLimits, batchRows, type ExportTable, writeBatchLimits } from "./table.ts";

/**
 * Writes a new file, without flushing it. Text is escaped (`escapeText`).
 * @throws a system error, also if the file exists; ExportError `write-failed`; what a table's rows throw; the signal's reason
 */
export async function writeSqliteFile(
  path: string,
  tables: readonly FittedTable[],
  references: readonly Reference[],
  { signal, mode }: { readonly signal?: AbortSignal | undefined; readonly mode?: number | undefined },
): Promise<void> {
  // SQLite would create it with a mode of its own.
  writeNewFile(path, "", mode);
  const db = new Database(path);
  const exec = (sql: string) => writing(path, () => db.exec(sql));
  try {
    // The file is private to this process and is thrown away after an error. Large pages are written in fewer steps, and
    // since rows come in the order of their keys, few pages are needed again.
    exec(
      "pragma page_size = 16384; pragma cache_size = -4096; pragma journal_mode = off; pragma synchronous = off; pragma foreign_keys = off; begin",
    );
    for (const { table, columns } of tables) {
      exec(tableDefinition(table, columns, references));
      await insertRows(db, path, { table, columns }, signal);
      exec(indexDefinitions(table, references));
    }
    exec("commit");
  } finally {
    db.close();
  }
}

/** Tells an error of this file from one of the file that the rows come from. */
function writing<Result>(path: string, write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new ExportError(
      "write-failed",
      `Cannot write ${path}: ${error.message}`,
      "Make room or choose another place.",
      { cause: error },
    );
  }
}

/** A statement for many rows takes less time for each. */
const insertLimits: BatchLimits = { maxRows: 32, maxCharacters: writeBatchLimits.maxCharacters };
/** Between two of them, signals are noticed. */
const batchesAtOnce = 32;

async function insertRows(
  db: Database.Database,
  path: string,
  { table, columns }: FittedTable,
  signal: AbortSignal | undefined,
): Promise<void> {
  const values = `(${table.columns.map(() => "?").join(", ")})`;
  // Without `or fail`, SQLite would copy each changed page to a temporary file, to undo a statement whose last rows fail.
  const prepareInsert = (rows: number) =>
    db.prepare(`insert or fail into ${quoted(table.name)} values ${Array(rows).fill(values).join(", ")}`);
  const insertOne = prepareInsert(1);
  const insertMany = prepareInsert(insertLimits.maxRows);
  const writers = columns.map(({ type }) => (type === "verbatim" ? writePlain : escapeText));
  const toStoredCell = (cell: Cell, n: number) =>
    typeof cell === "string" ? (writers[n] ?? escapeText)(cell) : cell;
  let count = 0;
  // Filled again for each statement, which takes less time than new lists.
  const cells: Cell[] = [];
  for (const batch of batchRows(table.rows(), insertLimits)) {
    if (count++ % batchesAtOnce === 0) {
      await setImmediate();
      signal?.throwIfAborted();
    }
    writing(path, () => {
      if (batch.length < insertLimits.maxRows) {
        for (const row of batch) insertOne.run(row.map(toStoredCell));
        return;
      }
      let at = 0;
      for (const row of batch)
        for (let n = 0; n < row.length; n++) cells[at++] = toStoredCell(row[n] ?? null, n);
      insertMany.run(cells);
    });
  }
}

function tableDefinition(
  table: ExportTable,
  columns: readonly FittedColumn[],
  references: readonly Reference[],
): string {
  const key = keyAmong(table.name, table.columns);
  const definitions = [
    ...columns.map(definitionOf),
    ...(key ? [`primary key (${key.map(quoted).join(", ")})`] : []),
    ...ownReferences(table, references).map(
      ({ column, to }) => `foreign key (${quoted(column)}) references ${quoted(to)} (href)`,
    ),
  ];
  return `create table ${quoted(table.name)} (\n  ${definitions.join(",\n  ")}\n)`;
}

const ownReferences = ({ name }: ExportTable, references: readonly Reference[]) =>
  references.filter(({ table }) => table === name);

/** Of a text, so that one of millions of words takes neither minutes nor hundreds of megabytes. */
const maxIndexedCharacters = 10_000;

/** Of references and of texts; the table of full-text search is `NAME_fts`, which Datasette finds by itself. */
function indexDefinitions(table: ExportTable, references: readonly Reference[]): string {
  const name = quoted(table.name);
  const statements = ownReferences(table, references).map(
    ({ column }) => `create index ${quoted(`${table.name}_${column}`)} on ${name} (${quoted(column)})`,
  );
  const searched = meaningOf(table.name)?.searched?.filter((column) => table.columns.includes(column)) ?? [];
  if (searched.length > 0) {
    const index = quoted(`${table.name}_fts`);
    const list = searched.map(quoted).join(", ");
    statements.push(
      `create virtual table ${index} using fts5 (${list}, content = ${name}, tokenize = 'unicode61 remove_diacritics 2')`,
      `insert into ${index} (rowid, ${list}) select rowid, ${searched.map((column) => `substr(${quoted(column)}, 1, ${maxIndexedCharacters})`).join(", ")} from ${name}`,
    );
  }
  return statements.join(";\n");
}

const sqlTypes: Readonly<Record<FittedType, string>> = {
  text: "text",
  integer: "integer",
  number: "real",
  boolean: "boolean",
  time: "datetime",
  object: "text",
  verbatim: "text",
};

/** Without a declared type, SQLite changes no cell of a mixed column. */
const definitionOf = ({ name, type, isMixed }: FittedColumn) =>
  isMixed ? quoted(name) : `${quoted(name)} ${sqlTypes[type]}`;

/** A name in SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
