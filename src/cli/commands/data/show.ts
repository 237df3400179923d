/** `armoire show`: one resource on one page, or its body. */
import type { Command } from "commander";
import { readBody } from "../../../query/provenance.ts";
import { runQuestion } from "../../../query/questions/run-question.ts";
import { showResource } from "../../../query/show.ts";
import type { QueryResult } from "../../../query/sql/run-query.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { addFormatFlags, type FormatFlags, readCsvProfile, readFormat } from "../../flags/query-flags.ts";
import {
  addResourceArguments,
  type KindArgument,
  readResourceArguments,
} from "../../flags/resource-argument.ts";
import { formatResource } from "../../format/data/resource.ts";
import { printGapsOfQuery, printResult, printRows } from "../../format/data/result.ts";
import { mirrorFileToRead, withMirror } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";

interface ShowFlags extends AsOfFlags, FormatFlags {
  readonly body?: boolean;
}

export function configure(command: Command, io: Io): void {
  addFormatFlags(
    addResourceArguments(command, listKinds).option("--body", "print the body as the service sent it"),
  ).addOption(asOfOption());
  addHelp(command, {
    details: [
      "Prints the fields, links and downloaded pictures of a brand, model or size, or with --account of a user, bra or " +
        "measurement, its last change and the request that returned it. A model comes with its brand, its sizes by band and " +
        "cup, the addresses of its pictures and its related models, as far as the mirror has them. Exact matches of the key come first; otherwise case, accents and punctuation are ignored. Several " +
        "matches are listed, and so are similar names if there is none. A resource that is gone is found if nothing else " +
        "has its name. A URL may also be that of the service's page (service_url). CSV and NDJSON contain the fields only.",
      "`armoire show bras` and `armoire show measurements` list all of an account.",
    ],
    examples: [
      "armoire show brand comexim",
      "armoire show model comexim/some-model",
      "armoire show size comexim/some-model/65F --json",
      "armoire show model comexim/some-model --body",
      "armoire show model comexim/some-model --format csv",
      "armoire show brand comexim --as-of 2026-11-03",
      "armoire show me --account ada",
      "armoire show bras --account ada",
      "armoire show measurements --account ada --format csv",
      'armoire show bra "Rosa 65F" --account ada',
      "armoire show measurement 4711 --account ada",
    ],
    exitCodes: exitCodesOfReading,
  });
  type Kind = KindArgument | ListKind;
  command.action(async (kindArgument: Kind, keyArgument: string | undefined, flags: ShowFlags) => {
    const settings = readSettings(command, io);
    if (isListKind(kindArgument)) return await showList(kindArgument, keyArgument, flags, settings, io);
    const { kind, key } = readResourceArguments(kindArgument, keyArgument);
    if (flags.body && (flags.format !== undefined || settings.json))
      throw new CliError(
        "usage",
        "--body has no format: it prints what the service sent.",
        "Leave out --format and --json.",
      );
    const format = readFormat(flags, settings);
    const asOf = readAsOf(flags, settings, io);
    if (flags.body) {
      const body = withMirror(settings, (mirror) => readBody(mirror, kind, key), asOf);
      await io.out(body.toString());
      return;
    }
    const shown = withMirror(settings, (mirror) => showResource(mirror, kind, key), asOf);
    if (format === "table") await printText(io, formatResource(shown, io.screen));
    else if (format === "json") await io.out(toJsonLine(shown));
    else {
      const { fields } = shown;
      await printRows(Object.keys(fields), [Object.values(fields)], format, readCsvProfile(flags), io);
    }
  });
}

const listKinds = ["bras", "measurements"] as const;
type ListKind = (typeof listKinds)[number];

const isListKind = (kind: string): kind is ListKind => listKinds.some((known) => known === kind);

/** The rows of the question of this name. @throws CliError, QueryError, MirrorError */
async function showList(
  kind: ListKind,
  key: string | undefined,
  flags: ShowFlags,
  settings: Settings,
  io: Io,
): Promise<void> {
  if (key !== undefined || flags.body)
    throw new CliError(
      "usage",
      `The kind ${kind} takes ${flags.body ? "no --body" : "no key"}.`,
      `\`armoire show ${kind.slice(0, -1)} KEY\` shows one.`,
    );
  const format = readFormat(flags, settings);
  const asOf = readAsOf(flags, settings, io);
  const file = mirrorFileToRead(settings);
  const result = await runQuestion({ file, question: kind, ...(asOf && { asOf }) });
  const printed = format === "table" ? withoutAddresses(result) : result;
  await printResult(printed, format, readCsvProfile(flags), io);
  printGapsOfQuery(result.coverage, settings, io);
}

/** For people, ids are enough. */
function withoutAddresses({ columns, rows, batches }: Pick<QueryResult, "columns" | "rows" | "batches">) {
  const kept = columns.flatMap((column, n) => (column === "href" || column === "n" ? [] : [n]));
  const pick = <Item>(items: readonly Item[]) => kept.map((n) => items[n] as Item);
  async function* pickRows() {
    for await (const row of rows) yield pick(row);
  }
  return { columns: pick(columns), rows: pickRows(), batches };
}
