/**
 * `npm run docs`: writes `schema.md`. In: an empty mirror, the definitions of the service's entities, and the meanings of
 * columns. Out: the page. A column without a meaning, or a meaning without a column, is an error.
 */
import { writeFile } from "node:fs/promises";
import { bookkeepingTables } from "../schema/dictionary/bookkeeping-tables.ts";
import { describeColumn } from "../schema/dictionary/columns.ts";
import { publicTables, sharedColumns } from "../schema/dictionary/public-tables.ts";
import { storedTypes, type TableMeaning } from "../schema/dictionary/table-meaning.ts";
import { entities, listTables } from "../schema/entities.ts";
import { readSchemaColumns } from "../src/mirror/file/columns.ts";

const introduction = `# The tables of a mirror

A mirror is one SQLite file. Any SQLite tool can open it, even while a sync writes to it. If the
SQLite of your tool is older than 3.51.3, open the file read-only (\`sqlite3 -readonly FILE\`) or open
a copy: two processes that checkpoint at the same time can damage the file. The pragma
\`integrity_check\` of SQLite 3.40.0 to 3.41.0 (as in Debian 12) wrongly reports damage in the \`_past\`
tables (“NULL value in …”); use \`armoire mirror check\` instead.

\`npm run docs\` generates this page from the program.

Columns have the service's field names and contain exactly the values that it sent, with these
exceptions:

- A field of a wrong type is null; \`armoire status\` lists it.
- A number that would lose digits (an integer beyond 2^53, a long decimal) is text.
- Text with lone surrogates (half a character of UTF-16), which UTF-8 cannot hold, is a blob of
  UTF-16LE. [Exports](command-line.md#armoire-export-create) escape it.

Join tables by \`href\`: slugs are unique only within their parent, and names not even there.

| type | how it is stored |
| --- | --- |
${Object.entries(storedTypes)
  .map(([type, stored]) => `| ${type} | ${stored} |`)
  .join("\n")}

## Public tables

A catalogue mirror fills \`brand\`, \`model\`, \`model_picture\`, \`size\` and \`relation\`. An account mirror
fills \`user\`, \`bra\`, \`bra_size\` and \`measurement\`. \`known\`, \`coverage\` and \`recently_changed\` answer
common questions about both.
`;

const bookkeepingIntroduction = `## Bookkeeping

Tables whose names begin with \`_\` belong to the program: read them, but never write them. The rows
of the tables above are in tables of the same name with \`_\` in front, keyed by \`_resource.id\`. Their
earlier rows are in tables with \`_past\` at the end, and hold from \`from_run\` up to, but not
including, \`to_run\`. A row stays when its resource is gone: \`gone_run\` of \`_resource\`, and earlier
\`_resource_past\`, say since when. To count the rows of a run, use \`--as-of\` or \`@counts-by-run\`.
\`_search_index\` is the full-text index (FTS5) over \`_search\`. \`_migration\` and
\`_migration_lock\` contain the version of the file.
`;

export async function schemaPage(): Promise<string> {
  const columnsByTable = await readSchemaColumns();
  /** Described together with its main table. */
  const isVariant = (table: string) =>
    table.endsWith("_current") || (table.endsWith("_past") && table !== "_resource_past");
  const undescribed = new Set([...entities, ...listTables].map(({ table }) => `_${table}`))
    .add("_search_index")
    .add("_migration")
    .add("_migration_lock");
  const described = [...Object.keys(publicTables), ...Object.keys(bookkeepingTables)];
  const present = [...columnsByTable.keys()].filter((table) => !undescribed.has(table) && !isVariant(table));
  requireEqual("table", described, present);
  const write = (tables: Readonly<Record<string, TableMeaning>>) =>
    Object.entries(tables).map(([table, meaning]) => {
      const hasCurrent = columnsByTable.has(`${table}_current`);
      return section(table, meaning, columnsByTable.get(table) ?? [], hasCurrent);
    });
  return [introduction, ...write(publicTables), bookkeepingIntroduction, ...write(bookkeepingTables)].join(
    "\n",
  );
}

function section(
  table: string,
  { about, columns: meanings }: TableMeaning,
  columns: readonly string[],
  hasCurrent: boolean,
): string {
  const isShared = (column: string) =>
    !Object.hasOwn(meanings, column) && Object.hasOwn(sharedColumns, column);
  requireEqual(
    `column of ${table}`,
    Object.keys(meanings),
    columns.filter((column) => !isShared(column)),
  );
  const isPublic = Object.hasOwn(publicTables, table);
  const rows = columns.map((column) => {
    const meaning = meanings[column] ?? sharedColumns[column] ?? "";
    const type = describeColumn(table, column)?.type ?? "text";
    return isPublic ? `| \`${column}\` | ${type} | ${meaning} |` : `| \`${column}\` | ${meaning} |`;
  });
  const current = hasCurrent ? ` \`${table}_current\` omits resources that are gone.` : "";
  const head = isPublic ? "| column | type | |\n| --- | --- | --- |" : "| column | |\n| --- | --- |";
  return `### \`${table}\`\n\n${wrap(about + current)}\n\n${head}\n${rows.join("\n")}\n`;
}

const lineLength = 100;

/** Breaks a paragraph into lines, but never within `code`. */
function wrap(paragraph: string): string {
  const words = paragraph.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line === undefined || `${line} ${word}`.length > lineLength) lines.push(word);
    else lines.splice(-1, 1, `${line} ${word}`);
  }
  return lines.join("\n");
}

function requireEqual(subject: string, described: readonly string[], present: readonly string[]): void {
  const missing = present.filter((name) => !described.includes(name));
  const stale = described.filter((name) => !present.includes(name));
  if (missing.length > 0) throw new Error(`Describe in schema/dictionary: ${subject} ${missing.join(", ")}`);
  if (stale.length > 0) throw new Error(`Remove from schema/dictionary: ${subject} ${stale.join(", ")}`);
}

if (import.meta.main) await writeFile(new URL("schema.md", import.meta.url), await schemaPage());
