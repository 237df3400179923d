/** `armoire search`: what has words like these, offline. */
import { type Command, Option } from "commander";
import type { Row } from "../../../exports/table.ts";
import { type FoundKind, foundColumns, foundKinds, search } from "../../query/search.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../as-of.ts";
import type { Io } from "../io.ts";
import { withMirror } from "../mirror-file.ts";
import { wholeNumber } from "../option-values.ts";
import { printResult, type ResultFormat, resultFormats } from "../print-result.ts";
import { readSettings } from "../settings.ts";

interface SearchFlags extends AsOfFlags {
  readonly kind?: FoundKind;
  readonly gone?: boolean;
  readonly limit: number;
  readonly format?: ResultFormat;
  readonly raw?: boolean;
}

export function configure(command: Command, io: Io): void {
  command
    .argument("<text...>", "words of names, codes and brands, or how they begin")
    .addOption(new Option("--kind <kind>", "only what is of this kind").choices(foundKinds))
    .option("--gone", "also what is gone, after everything else")
    .option("--limit <n>", "the best so many", wholeNumber, 20)
    .addOption(asOfOption())
    .addOption(new Option("--format <format>", "how to print the rows").choices(resultFormats))
    .option("--raw", "in CSV, leave text that a spreadsheet would run as a formula as it is")
    .addHelpText(
      "after",
      `
Examples:
  armoire search comexim
  armoire search comexim on --kind model
  armoire search comexim --as-of 2026-11-03
  armoire search лиф --format csv`,
    )
    .action(async (text: readonly string[], flags: SearchFlags) => {
      const settings = readSettings(command, io);
      const asOf = readAsOf(flags, settings, io);
      const found = withMirror(settings, (mirror) => search(mirror, text.join(" "), flags), asOf);
      const rows: readonly Row[] = found.map((one) => foundColumns.map((column) => one[column]));
      const result = { columns: foundColumns, rows: each(rows), batches: each([rows]), isCut: false };
      const format = settings.json ? "json" : (flags.format ?? "table");
      await printResult(result, format, { raw: flags.raw ?? false }, io.out);
      if (found.length === 0 && !settings.quiet) io.err("Nothing has all of these words.\n");
    });
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
