/** `armoire show`: the fields, links and pictures of one resource. */
import type { Command } from "commander";
import { showResource } from "../../../query/show.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { type FormatFlags, formatOption, readFormat } from "../../flags/query-flags.ts";
import {
  addResourceArguments,
  type KindArgument,
  readResourceArguments,
} from "../../flags/resource-argument.ts";
import { formatResource } from "../../format/data/resource.ts";
import { printRows } from "../../format/data/result.ts";
import { withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";

export function configure(command: Command, io: Io): void {
  addResourceArguments(command).addOption(formatOption()).addOption(asOfOption());
  addHelp(command, {
    details: [
      "Prints the fields, links and downloaded pictures of a brand, model or size, or with --account of a user, bra or " +
        "measurement. Exact matches of the key come first; otherwise case, accents and punctuation are ignored. Several " +
        "matches are listed, and so are similar names if there is none. A resource that is gone is found if nothing else " +
        "has its name. A URL may also be that of the service's page (service_url). CSV and NDJSON contain the fields only.",
    ],
    examples: [
      "armoire show brand comexim",
      "armoire show model comexim/some-model",
      "armoire show size comexim/some-model/65F --json",
      "armoire show model comexim/some-model --format csv",
      "armoire show brand comexim --as-of 2026-11-03",
      "armoire show me --account ada",
      'armoire show bra "Rosa 65F" --account ada',
      "armoire show measurement 4711 --account ada",
    ],
    exitCodes: exitCodesOfReading,
  });
  command.action(
    async (kindArgument: KindArgument, keyArgument: string | undefined, flags: AsOfFlags & FormatFlags) => {
      const { kind, key } = readResourceArguments(kindArgument, keyArgument);
      const settings = readSettings(command, io);
      const format = readFormat(flags, settings);
      const asOf = readAsOf(flags, settings, io);
      const shown = withMirror(settings, (mirror) => showResource(mirror, kind, key), asOf);
      if (format === "table") await io.out(formatResource(shown));
      else if (format === "json") await io.out(toJsonLine(shown));
      else {
        const { fields } = shown;
        await printRows(Object.keys(fields), [Object.values(fields)], format, "guarded", io);
      }
    },
  );
}
