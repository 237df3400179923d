/** `armoire runs list|show`: the run log, and the changes of one run. */
import type { Command } from "commander";
import { openDiff } from "../../../change/open-diff.ts";
import { toMirrorError } from "../../../mirror/file/errors.ts";
import { parsePoint, pointContext } from "../../../mirror/points/point.ts";
import { listRuns, type RunRecord, readRun } from "../../../mirror/runs/runs.ts";
import { positiveNumber } from "../../flags/option-values.ts";
import { printChanges } from "../../format/changes.ts";
import { truncationNotice } from "../../format/result.ts";
import { mirrorFileToRead, withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { addHelp } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";
import { escapeControls, formatTable } from "../../terminal/text-table.ts";

export function configure(command: Command, io: Io): void {
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
  });
  const list = command
    .command("list", { isDefault: true })
    .description("list the newest runs, as `armoire runs` alone does")
    .option("--limit <n>", "at most N runs", positiveNumber, 20);
  addHelp(list, {
    details: [
      "A run is shown as `not finished` if its process died; the next sync closes it as interrupted.",
    ],
    examples: ["armoire runs list", "armoire runs list --limit 100 --json"],
  });
  list.action(({ limit }: { limit: number }) => {
    const settings = readSettings(list, io);
    const found = withMirror(settings, (reader) => listRuns(reader, limit + 1));
    const runs = found.slice(0, limit);
    io.out(settings.json ? `${JSON.stringify(runs)}\n` : describeRuns(runs));
    if (found.length > limit) truncationNotice(limit, "--limit", settings, io);
  });
  const show = command
    .command("show")
    .description("show one run and its changes since the run before it")
    .argument("[run]", "a run number, a time, latest or latest-1", "latest");
  addHelp(show, { examples: ["armoire runs show", "armoire runs show 12 --account ada"] });
  show.action(async (text: string) => {
    const to = parsePoint(text, pointContext());
    const settings = readSettings(show, io);
    const mirror = mirrorFileToRead(settings);
    const opened = await openDiff({ mirror, from: "previous", to });
    try {
      const run = withMirror(settings, (reader) => readRun(reader, opened.to.place.run ?? 0));
      if (settings.json) await printChanges(opened, "json", io, { run });
      else {
        if (run !== null) io.out(`${describeRuns([run])}${describeErrorOf(run)}\n`);
        await printChanges(opened, "table", io);
      }
    } catch (error) {
      throw toMirrorError(error, mirror);
    } finally {
      opened.close();
    }
  });
}

const columns = ["run", "started", "ended", "counted", "new", "changed", "gone", "failed"];

function describeRuns(runs: readonly RunRecord[]): string {
  return formatTable(columns, runs.map(toRow));
}

function describeErrorOf({ error }: RunRecord): string {
  return error === null ? "" : `\nThe run ended with an error: ${escapeControls(error)}\n`;
}

const openStates = { running: "running", "not-finished": "not finished" } as const;

function toRow({ id, startedAt, state, stopped, counts, prunedAt }: RunRecord): unknown[] {
  return [
    id,
    startedAt,
    `${state === "ended" ? (stopped ?? "done") : openStates[state]}${prunedAt === null ? "" : ", pruned"}`,
    counts?.requests?.counted ?? null,
    counts?.resources.new ?? null,
    counts?.resources.changed ?? null,
    counts?.resources.gone ?? null,
    counts?.resources.failed ?? null,
  ];
}
