/**
 * `npm run docs`: writes `schema.md`. In: a mirror made for the purpose, the definitions of the service's entities, and
 * what the columns mean. Out: the page. A column without a meaning, or a meaning without a column, is an error.
 */
import { writeFile } from "node:fs/promises";
import Database from "better-sqlite3";
import type { z } from "zod";
import { entities, listTables } from "../schema/entities.ts";
import { decimal, document, flag, integer, open, text } from "../schema/fields.ts";
import { migrateMirror } from "../src/mirror/file/migrate.ts";
import { bookkeepingTables, sharedColumns, type TableMeaning, tablesToRead } from "./schema-meanings.ts";

const typeNames = new Map<z.ZodType, string>([
  [text, "text"],
  [integer, "integer"],
  [decimal, "number"],
  [flag, "0 or 1"],
  [open, "as sent"],
  [document, "JSON"],
]);

const introduction = `# The tables of a mirror

A mirror is one SQLite file; any SQLite tool opens it, also while a sync is writing. With a tool whose SQLite is older than
3.51.3 open it read-only (\`sqlite3 -readonly FILE\`) or open a copy: two processes that tidy up at once could damage it.
The \`pragma integrity_check\` of SQLite 3.40.0 to 3.41.0, Debian 12's among them, takes the \`_past\` tables for damaged (“NULL value in …”)
where nothing is: \`armoire mirror check\` tells.
This page is made by \`npm run docs\` from the program itself.

Columns carry the service's own field names and hold exactly what it sent: a field of a wrong type is null (and listed by
\`armoire status\`), a number that would lose digits (a whole one beyond 2^53, a long decimal) is text, and text that is not well-formed
Unicode is a blob of UTF-16LE. Times of our own are UTC, as in \`2026-01-31T06:00:00.000Z\`. Join tables by \`href\`: slugs are
unique only within their parent, and names not even there.

## Tables to read

A catalogue mirror fills \`brand\`, \`model\`, \`model_picture\`, \`size\` and \`relation\`. \`user\`, \`bra\`, \`bra_size\` and
\`measurement\` are filled in a mirror of an account.
\`known\`, \`coverage\` and \`recently_changed\` answer the common questions about either.
`;

const bookkeepingIntroduction = `## Bookkeeping

Names that begin with \`_\` are the program's own: read them, never write them. The rows under the tables above lie in
tables of the same name with \`_\` before it, keyed by \`_resource.id\`; what such rows were before is in tables with \`_past\`
after it, with the runs \`from_run\` and \`to_run\` that each was true from and up to, but not including. \`_search_index\` is
the full-text index (FTS5) over \`_search\`. \`_migration\` and
\`_migration_lock\` say which version of the program the file is for.
`;

export async function schemaPage(): Promise<string> {
  const columnsByTable = await readColumns();
  const isExplainedTogether = (table: string) =>
    table.endsWith("_current") || (table.endsWith("_past") && table !== "_resource_past");
  const undescribed = new Set([...entities, ...listTables].map(({ table }) => `_${table}`))
    .add("_search_index")
    .add("_migration")
    .add("_migration_lock");
  const described = [...Object.keys(tablesToRead), ...Object.keys(bookkeepingTables)];
  const present = [...columnsByTable.keys()].filter(
    (table) => !undescribed.has(table) && !isExplainedTogether(table),
  );
  refuseDifference("table", described, present);
  const write = (tables: Readonly<Record<string, TableMeaning>>) =>
    Object.entries(tables).map(([table, meaning]) => {
      const hasCurrent = columnsByTable.has(`${table}_current`);
      return section(table, meaning, columnsByTable.get(table) ?? [], hasCurrent);
    });
  return [introduction, ...write(tablesToRead), bookkeepingIntroduction, ...write(bookkeepingTables)].join(
    "\n",
  );
}

async function readColumns(): Promise<ReadonlyMap<string, readonly string[]>> {
  const db = new Database(":memory:");
  await migrateMirror(db);
  const tables = db
    .prepare<[], string>(
      `select s.name from sqlite_schema s join pragma_table_list l on l.name = s.name and l.schema = 'main'
       where l.type <> 'shadow' order by s.rowid`,
    )
    .pluck()
    .all();
  const columns = db.prepare<[string], string>("select name from pragma_table_xinfo(?) order by cid").pluck();
  const columnsByTable = new Map(tables.map((table) => [table, columns.all(table)]));
  db.close();
  return columnsByTable;
}

function section(
  table: string,
  { about, columns: meanings }: TableMeaning,
  columns: readonly string[],
  hasCurrent: boolean,
): string {
  const entity = entities.find((candidate) => candidate.table === table);
  const isShared = (column: string) =>
    !Object.hasOwn(meanings, column) && Object.hasOwn(sharedColumns, column);
  refuseDifference(
    `column of ${table}`,
    Object.keys(meanings),
    columns.filter((column) => !isShared(column)),
  );
  const rows = columns.map((column) => {
    const meaning = meanings[column] ?? sharedColumns[column] ?? "";
    const field = entity?.fields.shape[column];
    const type = field instanceof Object ? typeNames.get(field as z.ZodType) : "text";
    if (entity && type === undefined)
      throw new Error(`${table}.${column}: its type has no name in schema.md`);
    return entity ? `| \`${column}\` | ${type} | ${meaning} |` : `| \`${column}\` | ${meaning} |`;
  });
  const current = hasCurrent ? ` \`${table}_current\` leaves out what is gone.` : "";
  const head = entity ? "| column | type | |\n| --- | --- | --- |" : "| column | |\n| --- | --- |";
  return `### \`${table}\`\n\n${about}${current}\n\n${head}\n${rows.join("\n")}\n`;
}

function refuseDifference(what: string, described: readonly string[], present: readonly string[]): void {
  const missing = present.filter((name) => !described.includes(name));
  const stale = described.filter((name) => !present.includes(name));
  if (missing.length > 0)
    throw new Error(`Describe in docs/schema-meanings.ts: ${what} ${missing.join(", ")}`);
  if (stale.length > 0) throw new Error(`Remove from docs/schema-meanings.ts: ${what} ${stale.join(", ")}`);
}

if (import.meta.main) await writeFile(new URL("schema.md", import.meta.url), await schemaPage());
