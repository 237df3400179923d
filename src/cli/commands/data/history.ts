/** `armoire history`: the revisions of one resource. */
import type { Command } from "commander";
import { readHistory } from "../../../query/history.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { addFormatFlags, type FormatFlags, readCsvProfile, readFormat } from "../../flags/query-flags.ts";
import {
  addResourceArguments,
  type KindArgument,
  readResourceArguments,
} from "../../flags/resource-argument.ts";
import { formatHistory, historyColumns, rowsOfHistory } from "../../format/data/history.ts";
import { printRows } from "../../format/data/result.ts";
import { withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";

export function configure(command: Command, io: Io): void {
  addFormatFlags(addResourceArguments(command)).addOption(asOfOption());
  addHelp(command, {
    details: [
      "Prints when the resource was first known, each revision with its first and last run, the changed fields, and when it " +
        "was gone. The arguments are those of `armoire show`. CSV and NDJSON have a row per changed field.",
    ],
    examples: [
      "armoire history brand comexim",
      "armoire history model comexim/some-model",
      "armoire history size comexim/some-model/65F --json",
      "armoire history model comexim/some-model --format csv",
      "armoire history brand comexim --as-of 2026-11-03",
      'armoire history bra "Rosa 65F" --account ada',
      "armoire history measurement 4711 --account ada",
    ],
    exitCodes: exitCodesOfReading,
  });
  command.action(
    async (kindArgument: KindArgument, keyArgument: string | undefined, flags: AsOfFlags & FormatFlags) => {
      const { kind, key } = readResourceArguments(kindArgument, keyArgument);
      const settings = readSettings(command, io);
      const format = readFormat(flags, settings);
      const asOf = readAsOf(flags, settings, io);
      const history = withMirror(settings, (mirror) => readHistory(mirror, kind, key), asOf);
      if (format === "table") await printText(io, formatHistory(history));
      else if (format === "json") await io.out(toJsonLine(history));
      else await printRows(historyColumns, rowsOfHistory(history), format, readCsvProfile(flags), io);
    },
  );
}
