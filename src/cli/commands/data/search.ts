/** `armoire search`: what has words like these, offline. */
import { type Command, Option } from "commander";
import type { Row } from "../../../../exports/table.ts";
import {
  type FoundKind,
  foundColumns,
  foundColumnsOfAccounts,
  foundKinds,
  type SearchSuggestion,
  search,
  suggestSearch,
} from "../../../query/search.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { positiveNumber } from "../../flags/option-values.ts";
import { type FormatFlags, formatOption, readFormat } from "../../flags/query-flags.ts";
import { printRows, truncationNotice } from "../../format/result.ts";
import { withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import type { Io } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/text-table.ts";

interface SearchFlags extends AsOfFlags, FormatFlags {
  readonly kind?: FoundKind;
  readonly gone?: boolean;
  readonly limit: number;
  readonly raw?: boolean;
}

export function configure(command: Command, io: Io): void {
  command
    .argument("<text...>", "words of names, codes and brands, or how they begin")
    .addOption(new Option("--kind <kind>", "only what is of this kind").choices(foundKinds))
    .option("--gone", "also what is gone, after everything else")
    .option("--limit <n>", "the best so many", positiveNumber, 20)
    .addOption(asOfOption())
    .addOption(formatOption())
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
      const format = readFormat(flags, settings);
      const asOf = readAsOf(flags, settings, io);
      const words = text.join(" ");
      const { area, found, isCut, advice } = withMirror(
        settings,
        (mirror) => {
          const all = search(mirror, words, { ...flags, limit: flags.limit + 1 });
          return {
            area: mirror.identity.area,
            found: all.slice(0, flags.limit),
            isCut: all.length > flags.limit,
            advice: all.length === 0 && !settings.quiet ? suggestSearch(mirror, words, flags) : null,
          };
        },
        asOf,
      );
      const columns = area === "account" ? foundColumnsOfAccounts : foundColumns;
      const rows: readonly Row[] = found.map((one) => columns.map((column) => one[column]));
      await printRows(columns, rows, format, { raw: flags.raw ?? false }, io.out);
      if (isCut) truncationNotice(flags.limit, "--limit", settings, io);
      if (advice !== null) io.err(describeAdvice(advice));
    });
}

function describeAdvice({ gone, alike }: SearchSuggestion): string {
  const names = alike.map((name) => JSON.stringify(name)).join(" or ");
  return [
    "Nothing has all of these words.\n",
    gone === 0 ? "" : `${gone} that ${gone === 1 ? "is" : "are"} gone had them: --gone.\n`,
    alike.length === 0 ? "" : `Did you mean ${escapeControls(names)}?\n`,
  ].join("");
}
