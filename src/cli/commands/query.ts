/** `armoire query`: one read-only SQL statement, run in a process of its own. */
import { type Command, Option } from "commander";
import { csvText } from "../../../exports/csv.ts";
import { jsonText } from "../../../exports/json.ts";
import type { Row } from "../../../exports/table.ts";
import { openMirrorReader } from "../../mirror/mirror.ts";
import { type QueryResult, runQuery } from "../../query/run-query.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../as-of.ts";
import type { Io } from "../io.ts";
import { mirrorFileToRead } from "../mirror-file.ts";
import { wholeNumber } from "../option-values.ts";
import { printText } from "../print-text.ts";
import { readSettings } from "../settings.ts";
import { formatTable } from "../text-table.ts";

interface QueryFlags extends AsOfFlags {
  readonly format?: "table" | "csv" | "json";
  readonly maxRows: number;
  readonly timeout: number;
  readonly raw?: boolean;
}

export function configure(command: Command, io: Io): void {
  command
    .argument("<sql>", "one SELECT over brand, model, size, relation, known, coverage, recently_changed")
    .addOption(new Option("--format <format>", "how to print the rows").choices(["table", "csv", "json"]))
    .option("--max-rows <n>", "stop after so many rows", wholeNumber, 100_000)
    .option("--timeout <seconds>", "end a statement that takes longer", wholeNumber, 60)
    .option("--raw", "in CSV, leave text that a spreadsheet would run as a formula as it is")
    .addOption(asOfOption())
    .addHelpText(
      "after",
      `
Examples:
  armoire query "select name, bra_count from brand order by bra_count desc limit 10"
  armoire query "select * from coverage" --json
  armoire query "select * from model where is_discontinued = 1" --format csv > discontinued.csv
  armoire query "select * from brand" --as-of 2026-11-03`,
    )
    .action(async (sql: string, flags: QueryFlags) => {
      const settings = readSettings(command, io);
      const file = mirrorFileToRead(settings);
      openMirrorReader(file).close();
      const asOf = readAsOf(flags, settings, io);
      const { maxRows, timeout, raw = false } = flags;
      const result = await runQuery({
        ...{ file, sql, maxRows, timeoutMillis: timeout * 1000 },
        ...(asOf && { asOf }),
      });
      const format = settings.json ? "json" : (flags.format ?? "table");
      if (format === "table") await printTable(result, io);
      else {
        const { columns, batches } = result;
        await printText(format === "json" ? jsonText(columns) : csvText(columns, { raw }), batches, io.out);
      }
      if (result.isCut) io.err(`Only the first ${maxRows} rows; --max-rows gives more.\n`);
    });
}

/** Widths are known only when all rows are. */
async function printTable({ columns, rows }: QueryResult, io: Io): Promise<void> {
  const gathered: Row[] = [];
  for await (const row of rows) gathered.push(row);
  io.out(formatTable(columns, gathered));
}
