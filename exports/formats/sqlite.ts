/** All tables in one plain SQLite file: typed columns, keys, references, indexes and full-text search. */
import Database from "better-sqlite3";
import { keyAmong, publicTables } from "../../schema/dictionary/public-tables.ts";
import type { Cell } from "../../schema/fields.ts";
import { syncFile, writeNewFile } from "../../src/platform/atomic-file.ts";
import type { Reference } from "../package/table-schema.ts";
import { toCsvText } from "./csv.ts";
import type { FittedColumn, FittedType } from "./fitted-types.ts";
import type { ExportTable } from "./table.ts";

export interface FittedTable {
  readonly table: ExportTable;
  readonly columns: readonly FittedColumn[];
}

/**
 * Writes a new file; its content is durable on return. Text is as in CSV of the profile `exact`.
 * @throws a system error, also if the file exists; an error of SQLite; the signal's reason
 */
export function writeSqliteFile(
  path: string,
  tables: readonly FittedTable[],
  references: readonly Reference[],
  { signal, mode }: { readonly signal?: AbortSignal | undefined; readonly mode?: number | undefined },
): void {
  // SQLite would create it with a mode of its own.
  writeNewFile(path, "", mode);
  const db = new Database(path);
  try {
    // The file is private to this process and is thrown away after an error.
    db.exec("pragma journal_mode = off; pragma synchronous = off; pragma foreign_keys = off");
    db.transaction(() => {
      for (const fitted of tables) writeTable(db, fitted, references, signal);
    })();
  } finally {
    db.close();
  }
  syncFile(path);
}

function writeTable(
  db: Database.Database,
  { table, columns }: FittedTable,
  references: readonly Reference[],
  signal?: AbortSignal,
): void {
  const name = quoted(table.name);
  const key = keyAmong(table.name, table.columns);
  const own = references.filter((reference) => reference.table === table.name);
  const definitions = [
    ...columns.map(definitionOf),
    ...(key ? [`primary key (${key.map(quoted).join(", ")})`] : []),
    ...own.map(({ column, to }) => `foreign key (${quoted(column)}) references ${quoted(to)} (href)`),
  ];
  db.exec(`create table ${name} (\n  ${definitions.join(",\n  ")}\n)`);
  const insert = db.prepare(`insert into ${name} values (${columns.map(() => "?").join(", ")})`);
  let count = 0;
  for (const row of table.rows()) {
    if (count++ % 1_000 === 0) signal?.throwIfAborted();
    insert.run(row.map(toStored));
  }
  for (const { column } of own)
    db.exec(`create index ${quoted(`${table.name}_${column}`)} on ${name} (${quoted(column)})`);
  addSearch(db, table);
}

/** A table `NAME_fts`, which Datasette finds by itself. */
function addSearch(db: Database.Database, { name, columns }: ExportTable): void {
  const searched = publicTables[name]?.searched?.filter((column) => columns.includes(column)) ?? [];
  if (searched.length === 0) return;
  const index = quoted(`${name}_fts`);
  const list = searched.map(quoted).join(", ");
  db.exec(
    `create virtual table ${index} using fts5 (${list}, content = ${quoted(name)}, tokenize = 'unicode61 remove_diacritics 2')`,
  );
  db.exec(`insert into ${index} (${index}) values ('rebuild')`);
}

const sqlTypes: Readonly<Record<FittedType, string>> = {
  text: "text",
  integer: "integer",
  number: "real",
  boolean: "boolean",
  time: "datetime",
  object: "text",
};

/** Without a declared type, SQLite changes no cell of a mixed column. */
const definitionOf = ({ name, type, isMixed }: FittedColumn) =>
  isMixed ? quoted(name) : `${quoted(name)} ${sqlTypes[type]}`;

const toStored = (cell: Cell) => (typeof cell === "string" ? toCsvText(cell, "exact") : cell);

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
