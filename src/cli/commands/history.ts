/** `armoire history`: the life of one resource. */
import type { Command } from "commander";
import { readHistory } from "../../query/history.ts";
import { describeHistory } from "../describe-history.ts";
import type { Io } from "../io.ts";
import { withMirror } from "../mirror-file.ts";
import { readSettings } from "../settings.ts";
import { type AskedKind, addShownArguments, readShown } from "../shown-argument.ts";
import { toJson } from "../to-json.ts";

export function configure(command: Command, io: Io): void {
  addShownArguments(command)
    .addHelpText(
      "after",
      `
Examples:
  armoire history brand comexim
  armoire history model comexim/some-model
  armoire history size comexim/some-model/65F --json
  armoire history bra "Rosa 65F" --account ada`,
    )
    .action((asked: AskedKind, given: string | undefined) => {
      const { kind, key } = readShown(asked, given);
      const settings = readSettings(command, io);
      const history = withMirror(settings, (mirror) => readHistory(mirror, kind, key));
      io.out(settings.json ? `${toJson(history)}\n` : describeHistory(history));
    });
}
