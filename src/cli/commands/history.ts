/** `armoire history`: the life of one resource. */
import { Argument, type Command } from "commander";
import { type ShownKind, shownKinds } from "../../query/called.ts";
import { readHistory } from "../../query/history.ts";
import { describeHistory } from "../describe-history.ts";
import type { Io } from "../io.ts";
import { withMirror } from "../mirror-file.ts";
import { readSettings } from "../settings.ts";
import { toJson } from "../to-json.ts";

export function configure(command: Command, io: Io): void {
  command
    .addArgument(new Argument("<kind>", "what it is").choices(shownKinds))
    .argument("<key>", "its URL, its slugs from the brand down, or its name")
    .addHelpText(
      "after",
      `
Examples:
  armoire history brand comexim
  armoire history model comexim/some-model
  armoire history size comexim/some-model/65F --json`,
    )
    .action((kind: ShownKind, key: string) => {
      const settings = readSettings(command, io);
      const history = withMirror(settings, (mirror) => readHistory(mirror, kind, key));
      io.out(settings.json ? `${toJson(history)}\n` : describeHistory(history));
    });
}
