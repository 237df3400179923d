/** `armoire tables`: what the tables and their columns mean, offline and without a mirror. */
import type { Command } from "commander";
import { type ColumnDescription, describeColumn } from "../../../../schema/dictionary/columns.ts";
import { publicTables } from "../../../../schema/dictionary/public-tables.ts";
import { readSchemaColumns } from "../../../mirror/file/columns.ts";
import { similarNames } from "../../../platform/fuzzy-names.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";
import { formatWrappedTable } from "../../terminal/table/text-table.ts";

export function configure(command: Command, io: Io): void {
  command.argument("[table]", "show the columns of this table");
  addHelp(command, {
    details: [
      "Lists the public tables; with a name, the columns of that table with types and meanings, its key, and the tables that it " +
        "refers to. `armoire query` reads all of them; `armoire export` writes those that hold data of the service.",
    ],
    examples: ["armoire tables", "armoire tables model", "armoire tables size --json"],
    exitCodes: ["done", "failed", "usage"],
  });
  command.action(async (name: string | undefined) => {
    const { json } = readSettings(command, io);
    const columns = await readSchemaColumns();
    const describe = (table: string) => describeTable(table, columns.get(table) ?? []);
    if (name !== undefined) {
      const table = describe(name);
      if (json) io.out(toJsonLine(table));
      else await printText(io, formatDescription(table, io.screen));
      return;
    }
    const tables = Object.keys(publicTables)
      .flatMap((table) => [table, `${table}_current`])
      .filter((table) => columns.has(table))
      .map(describe);
    const rows = tables.map(({ table, about }) => [table, about]);
    if (json) io.out(toJsonLine(tables));
    else await printText(io, formatWrappedTable(["table", "about"], rows, io.screen));
  });
}

interface TableDescription {
  readonly table: string;
  readonly about: string;
  readonly key: readonly string[];
  /** Column to table; the value is the `href` of a row there. */
  readonly references: Readonly<Record<string, string>>;
  readonly columns: readonly ColumnDescription[];
}

/** @param columns none for an unknown table @throws CliError for one */
function describeTable(table: string, columns: readonly string[]): TableDescription {
  const base = columns.length === 0 ? table : table.replace(/_current$/, "");
  const meaning = Object.hasOwn(publicTables, base) ? publicTables[base] : undefined;
  if (meaning !== undefined) {
    const { key = [], references = {} } = meaning;
    const about = table === base ? meaning.about : `The table ${base} without resources that are gone.`;
    return {
      table,
      about,
      key,
      references,
      columns: columns.flatMap((column) => describeColumn(base, column) ?? []),
    };
  }
  const similar = similarNames(table, Object.keys(publicTables), 2);
  throw new CliError(
    "usage",
    `There is no public table ${JSON.stringify(table)}.`,
    similar.length > 0
      ? `Did you mean ${similar.join(" or ")}?`
      : "`armoire tables` lists them; docs/schema.md also describes the program's own tables.",
  );
}

function formatDescription(
  { table, about, key, references, columns }: TableDescription,
  screen: Io["screen"],
): string {
  const notes = [
    ...(key.length > 0 ? [`Key: ${key.join(", ")}`] : []),
    ...Object.entries(references).map(([column, to]) => `${column} is the href of a row of ${to}`),
  ];
  const rows = columns.map(({ name, type, about }) => [name, type, about]);
  return `${table}: ${about}\n\n${formatWrappedTable(["column", "type", "meaning"], rows, screen)}${notes.length > 0 ? `\n${notes.join("\n")}\n` : ""}`;
}
