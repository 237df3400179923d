/** `armoire tables`: what the tables and their columns mean, offline and without a mirror. */
import type { Command } from "commander";
import {
  describeTable,
  publicTableNames,
  type TableDescription,
} from "../../../../schema/dictionary/describe-table.ts";
import { publicTables } from "../../../../schema/dictionary/public-tables.ts";
import { type ColumnType, storedTypes } from "../../../../schema/dictionary/table-meaning.ts";
import { readSchemaColumns } from "../../../mirror/file/columns.ts";
import { similarNames } from "../../../platform/text/fuzzy-names.ts";
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
    if (name !== undefined) {
      const table = describe(name, columns.get(name) ?? []);
      if (json) io.out(toJsonLine(table));
      else await printText(io, formatDescription(table, io.screen));
      return;
    }
    const tables = publicTableNames()
      .filter((table) => columns.has(table))
      .map((table) => describe(table, columns.get(table) ?? []));
    const rows = tables.map(({ table, about }) => [table, about]);
    if (json) io.out(toJsonLine(tables));
    else await printText(io, formatWrappedTable(["table", "about"], rows, io.screen));
  });
}

/** @param columns none for an unknown table @throws CliError for one */
function describe(table: string, columns: readonly string[]): TableDescription {
  const description = describeTable(table, columns);
  if (description !== null) return description;
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
  const used = new Set(columns.map(({ type }) => type));
  const types = Object.entries(storedTypes).filter(
    ([type]) => type !== "url" && used.has(type as ColumnType),
  );
  const notes = [
    ...types.map(([type, stored]) => `${type}: ${stored}`),
    ...(key.length > 0 ? [`Key: ${key.join(", ")}`] : []),
    ...Object.entries(references).map(([column, to]) => `${column} is the href of a row of ${to}`),
  ];
  const rows = columns.map(({ name, type, about }) => [name, type, about]);
  return `${table}: ${about}\n\n${formatWrappedTable(["column", "type", "meaning"], rows, screen)}${notes.length > 0 ? `\n${notes.join("\n")}\n` : ""}`;
}
