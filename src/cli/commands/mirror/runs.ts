/** `armoire runs list|show`: the run log, and the changes of one run. */
import type { Command } from "commander";
import { openDiff } from "../../../change/open-diff.ts";
import { toMirrorError } from "../../../mirror/file/errors.ts";
import { parsePoint, pointContext } from "../../../mirror/points/point.ts";
import { countRuns, listRuns, readRun } from "../../../mirror/runs/run-log.ts";
import { positiveNumber } from "../../flags/option-values.ts";
import { printChanges } from "../../format/data/print-changes.ts";
import { truncationNotice } from "../../format/data/result.ts";
import { formatRun, formatRuns, idleNotice } from "../../format/mirror/runs.ts";
import { mirrorFileToRead, withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";

export function configure(command: Command, io: Io): void {
  const list = command
    .command("list", { isDefault: true })
    .description("list the newest runs, as `armoire runs` alone does")
    .option("--limit <n>", "at most N runs", positiveNumber, 20)
    .option("--all", "also runs that sent no request and changed nothing");
  addHelp(command, {
    details: [
      "The counts new, changed, gone and failed are of all resources, including the pages of lists. `armoire runs show` " +
        "shows the changes of brands, models and sizes, or of a user, bras and measurements.",
    ],
    examples: [
      "armoire runs",
      "armoire runs list --limit 100 --json",
      "armoire runs show",
      "armoire runs show 12",
    ],
    exitCodes: exitCodesOfReading,
    defaultCommand: list,
  });
  addHelp(list, {
    details: [
      "Runs that sent no request and changed nothing are left out here, and by latest and latest-1, because they repeat the state " +
        "before them.",
      "The result is `done`, or why the run stopped: allowance, budget, interrupted, approval or error. It is `not finished` " +
        "if the process of the run died; the next sync closes that run as interrupted.",
    ],
    examples: ["armoire runs list", "armoire runs list --limit 100 --json", "armoire runs list --all"],
    exitCodes: exitCodesOfReading,
  });
  list.action(({ limit, all = false }: { limit: number; all?: boolean }) => {
    const settings = readSettings(list, io);
    const { runs, counts } = withMirror(settings, (reader) => ({
      runs: listRuns(reader, limit, all),
      counts: countRuns(reader),
    }));
    const idle = all ? 0 : counts.idle;
    const total = counts.all - idle;
    if (settings.json) io.out(toJsonLine(runs));
    else printText(io, formatRuns(runs, io.screen));
    if (total > limit) truncationNotice({ maxRows: limit, total }, "--limit", settings, io);
    if (idle > 0 && !settings.quiet) io.err(idleNotice(idle));
  });
  const show = command
    .command("show")
    .description("show one run and its changes since the run before it")
    .argument("[run]", "a run number, a time, latest or latest-1", "latest");
  addHelp(show, {
    examples: ["armoire runs show", "armoire runs show 12 --account ada"],
    exitCodes: exitCodesOfReading,
  });
  show.action(async (text: string) => {
    const to = parsePoint(text, pointContext());
    const settings = readSettings(show, io);
    const mirror = mirrorFileToRead(settings);
    const opened = await openDiff({ mirror, from: "previous", to });
    try {
      const { run: number } = opened.to.place;
      if (!settings.quiet && opened.from?.place.run === number)
        io.err(`All runs before run ${number} were pruned: its changes are not known.\n`);
      const run = withMirror(settings, (reader) => readRun(reader, number ?? 0));
      if (settings.json) await printChanges(opened, "json", io, { about: { run } });
      else {
        if (run !== null) printText(io, `${formatRun(run, io.screen)}\n`);
        await printChanges(opened, "table", io);
      }
    } catch (error) {
      throw toMirrorError(error, mirror);
    } finally {
      opened.close();
    }
  });
}
