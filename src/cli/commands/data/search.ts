/** `armoire search`: finds resources by words of their names, offline. */

import { type Command, Option } from "commander";
import type { Row } from "../../../../exports/formats/table.ts";
import type { Area } from "../../../../schema/kind.ts";
import type { MirrorReader } from "../../../mirror/reader.ts";
import { readCoverage } from "../../../mirror/runs/coverage.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import {
  countFound,
  type Found,
  type FoundKind,
  foundColumns,
  foundColumnsOfAccounts,
  foundKinds,
  search,
} from "../../../query/search.ts";
import { type SearchSuggestion, suggestSearch } from "../../../query/suggest-search.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { positiveNumber } from "../../flags/option-values.ts";
import { addFormatFlags, type FormatFlags, readCsvProfile, readFormat } from "../../flags/query-flags.ts";
import { printGaps, printRows, truncationNotice } from "../../format/data/result.ts";
import { withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

interface SearchFlags extends AsOfFlags, FormatFlags {
  readonly kind?: FoundKind;
  readonly gone?: boolean;
  readonly limit: number;
}

export function configure(command: Command, io: Io): void {
  addFormatFlags(
    command
      .argument("<text...>", "words, or beginnings of words")
      .addOption(new Option("--kind <kind>", "find only this kind").choices(foundKinds))
      .option("--gone", "also find resources that are gone, listed last")
      .option("--limit <n>", "at most N results", positiveNumber, 20)
      .addOption(asOfOption()),
  );
  addHelp(command, {
    details: [
      "Finds brands and models with all words in their name, code, short name or brand, including listed ones that are not " +
        "fetched yet. With --account it finds bras by name, brand, model and note. Case, accents and full-width forms are ignored. " +
        "In writing without spaces, such as Chinese or Japanese, any part of a word matches. Exact names come first, then whole words, then beginnings; within " +
        "these, the most owned models. No character has a special meaning.",
      "If nothing matches, a table shows the results of the most similar known words instead, and a notice on stderr says so. " +
        "CSV, JSON and NDJSON are empty then, and so is a table with --quiet.",
      "On a terminal, the table has the key that `armoire show` takes instead of the URL.",
    ],
    examples: [
      "armoire search comexim",
      "armoire search comexim on --kind model",
      "armoire search comexim --as-of 2026-11-03",
      "armoire search лиф --format csv",
    ],
    exitCodes: exitCodesOfReading,
  });
  command.action(async (text: readonly string[], flags: SearchFlags) => {
    const settings = readSettings(command, io);
    const format = readFormat(flags, settings);
    const asOf = readAsOf(flags, settings, io);
    const words = text.join(" ");
    const find = (mirror: MirrorReader, searched: string) => {
      const some = search(mirror, searched, { ...flags, limit: flags.limit + 1 });
      if (some.length <= flags.limit) return { found: some, total: some.length };
      return { found: some.slice(0, flags.limit), total: countFound(mirror, searched, flags) };
    };
    const { area, coverage, matches, suggestion, correction } = withMirror(
      settings,
      (mirror) => {
        const own = find(mirror, words);
        const advice = own.total === 0 && !settings.quiet ? suggestSearch(mirror, words, flags) : null;
        // Scripts get what they search for; words that only tombstones have are no mistake.
        const corrected = format === "table" && advice?.gone === 0 ? (advice.similar[0] ?? null) : null;
        return {
          area: mirror.identity.area,
          coverage: readCoverage(mirror, flags.kind === undefined ? foundKinds : [flags.kind]),
          matches: corrected === null ? own : find(mirror, corrected),
          suggestion: advice,
          correction: corrected,
        };
      },
      asOf,
    );
    const { found, total } = matches;
    const isForTerminal = format === "table" && io.screen !== null;
    const columns = isForTerminal
      ? columnsForTerminal(area, found)
      : area === "account"
        ? foundColumnsOfAccounts
        : foundColumns;
    const rows: readonly Row[] = found.map((result) => columns.map((column) => result[column]));
    const isEmptyTable = format === "table" && rows.length === 0;
    if (correction !== null) io.err(`${nothingFound}Results for ${quote(correction)} instead:\n`);
    if (isEmptyTable) await printText(io, nothingFound);
    else await printRows(columns, rows, format, readCsvProfile(flags), io);
    if (total > flags.limit) truncationNotice({ maxRows: flags.limit, total }, "--limit", settings, io);
    printGaps(coverage, settings, io);
    if (suggestion === null) return;
    if (correction === null) io.err((isEmptyTable ? "" : nothingFound) + describeSuggestion(suggestion));
    else io.err(describeSuggestion({ gone: 0, similar: suggestion.similar.slice(1) }));
  });
}

/** The key tells the brand of a model that is held, and what `show` takes. */
function columnsForTerminal(area: Area, found: readonly Found[]): readonly (keyof Found)[] {
  const isAllHeld = found.every(({ state }) => state === "held");
  return [
    ...["kind" as const, "name" as const],
    ...(area === "account" || !isAllHeld ? ["brand" as const] : []),
    ...(area === "account" ? [] : ["bra_count" as const]),
    ...(isAllHeld ? [] : ["state" as const]),
    "key",
  ];
}

const nothingFound = "No resource has all of these words.\n";

function describeSuggestion({ gone, similar }: SearchSuggestion): string {
  const names = similar.map(quote).join(" or ");
  return [
    gone === 0
      ? ""
      : `${formatCount(gone, "resource that is", "resources that are")} gone had them: add --gone.\n`,
    similar.length === 0 ? "" : `Did you mean ${names}?\n`,
  ].join("");
}

const quote = (name: string): string => escapeControls(JSON.stringify(name));
