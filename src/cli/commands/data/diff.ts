/** `armoire diff`: the changes between two points, mirrors or exports. */
import { statSync } from "node:fs";
import { type Command, Option } from "commander";
import type { Change, Reported } from "../../../change/change.ts";
import type { FilterInput } from "../../../change/filter.ts";
import type { Keyed } from "../../../change/keys.ts";
import { openChangeLog } from "../../../change/log/change-log.ts";
import { type DiffRequest, type OpenDiff, openDiff, openReported } from "../../../change/open-diff.ts";
import { toMirrorError } from "../../../mirror/file/errors.ts";
import {
  PointError,
  type PointOrPath,
  parsePoint,
  parsePointOrPath,
  pointContext,
} from "../../../mirror/points/point.ts";
import { gapsOfDiff } from "../../../mirror/runs/describe-coverage.ts";
import { formatMinute } from "../../../presentation/times.ts";
import { warnOfPruned } from "../../flags/as-of.ts";
import { addChangeFilterFlags, type ChangeFilterFlags, changeFilterOf } from "../../flags/change-flags.ts";
import { addFormatFlags, type FormatFlags, readCsvProfile, readFormat } from "../../flags/query-flags.ts";
import { printChanges, printTotals } from "../../format/data/print-changes.ts";
import { printNotices, type ResultFormat } from "../../format/data/result.ts";
import { mirrorFileToRead } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { CliError, exitCodes } from "../../terminal/exit-codes.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";

interface DiffFlags extends FormatFlags, ChangeFilterFlags {
  readonly from?: string;
  readonly to?: string;
  readonly since?: string;
  readonly totals?: boolean;
  readonly exitCode?: boolean;
}

export function configure(command: Command, io: Io): void {
  addChangeFilterFlags(
    command
      .addOption(
        new Option("--from <point>", "the earlier state").default(
          undefined,
          "the latest earlier run with a different state",
        ),
      )
      .addOption(new Option("--to <point>", "the later state").default(undefined, "the latest run"))
      .addOption(
        new Option("--since <time>", "resources that the service reports as modified since then").conflicts([
          "from",
          "field",
          "ignore",
          "change",
        ]),
      ),
  );
  addFormatFlags(command)
    .option("--totals", "print only the number of changes by kind")
    .option("--exit-code", "exit with 20 if there are changes");
  addHelp(command, {
    details: [
      "A POINT is a run, a time, latest, latest-1, -7d, a mirror file, or an export's folder. Restore a backup into a mirror to " +
        "compare it. Both states must be of the same base URL. Fields that are new in the service's responses are not compared: " +
        "`armoire history` shows them for one resource.",
      "Without --since, the changes are observed: those that the mirror saw between two points. --since selects by the service's " +
        "last_modified_at, which has no time zone: 2026-11-03 is the beginning of that day, and an instant such as -7d is taken in " +
        "UTC. On a terminal, a list longer than the screen opens in the program that PAGER names.",
    ],
    examples: [
      "armoire diff",
      "armoire diff --from -30d --kind model --ignore bra_count",
      "armoire diff --from -30d --totals",
      "armoire diff --from catalogue-2026-10 --to latest --format csv > changes.csv",
      "armoire diff --from catalogue-2026-10 --to catalogue-2026-11 --brand comexim",
      "armoire diff --from 2026-10-01 --model comexim/lupine",
      "armoire diff --from latest-2 --kind model --change added --change removed",
      "armoire diff --since -7d",
    ],
    exitCodes: [...exitCodesOfReading, "rejected", "different"],
  });
  command.action(async (flags: DiffFlags) => {
    const settings = readSettings(command, io);
    const format = readFormat(flags, settings);
    const opened = await openRequested(flags, settings, io);
    try {
      warnOfNotCompared(opened, settings, io);
      warnOfSameRun(opened, settings, io);
      const totals = await (flags.totals
        ? printTotals(opened, formatOfTotals(format), io)
        : printChanges(opened, format, io, { csv: readCsvProfile(flags) }));
      printNotices(gapsOfDiff(opened.coverage, opened.from !== null, formatMinute), settings, io);
      warnOfMissingTimes(opened, settings, io);
      if (Object.keys(totals).length === 0) hintAtObserved(flags, opened, settings, io);
      if (flags.exitCode && Object.keys(totals).length > 0) io.setExitCode(exitCodes.different);
    } catch (error) {
      throw "mirror" in opened.to.place ? toMirrorError(error, opened.to.place.mirror) : error;
    } finally {
      opened.close();
    }
  });
}

/** @throws CliError */
function formatOfTotals(format: ResultFormat): "table" | "json" {
  if (format === "table" || format === "json") return format;
  throw new CliError(
    "usage",
    `--totals cannot be printed as ${format}.`,
    "Leave out --format, or give --json.",
  );
}

async function openRequested(
  flags: DiffFlags,
  settings: Settings,
  io: Io,
): Promise<OpenDiff<Keyed<Change | Reported>>> {
  const { since } = flags;
  const [from, to] = [flags.from, flags.to].map((text) => (text === undefined ? undefined : readPoint(text)));
  const isWithoutMirror = to !== undefined && "path" in to && (from === undefined || "path" in from);
  const request: DiffRequest = {
    ...changeFilterOf(flags),
    ...(!isWithoutMirror && { mirror: mirrorFileToRead(settings) }),
    ...(from && { from }),
    ...(to && { to }),
  };
  for (const point of [from, to])
    if (point !== undefined && !("path" in point)) warnOfPruned(point, settings, io);
  return since === undefined ? await openDiff(request) : await openReported(request, since);
}

/** @throws PointError */
function readPoint(text: string): PointOrPath {
  return parsePointOrPath(text, pointContext(), (path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    return stats.isDirectory() ? "folder" : "file";
  });
}

function warnOfMissingTimes({ withoutTime }: OpenDiff<unknown>, { quiet }: Settings, io: Io): void {
  if (quiet || withoutTime === 0) return;
  const are = withoutTime === 1 ? "1 resource has" : `${withoutTime} resources have`;
  io.err(
    `${are} no last_modified_at and may have changed; without --since, \`armoire diff\` compares them.\n`,
  );
}

/** The service may report an old time for what the mirror saw change just now. */
function hintAtObserved(flags: DiffFlags, opened: OpenDiff<unknown>, { quiet }: Settings, io: Io): void {
  const { since, to } = flags;
  if (quiet || since === undefined || to !== undefined || !("mirror" in opened.to.place)) return;
  const filter = changeFilterOf(flags);
  if (hasObservedSince(opened.to.place.mirror, since, filter))
    io.err(`The mirror has observed changes since then: \`armoire changes --since ${since}\` lists them.\n`);
}

function hasObservedSince(mirror: string, since: string, filter: FilterInput): boolean {
  try {
    const log = openChangeLog({ mirror, since: parsePoint(since, pointContext()), ...filter });
    try {
      for (const { changes, isFirst } of log.runs()) for (const _change of changes) return !isFirst;
      return false;
    } finally {
      log.close();
    }
  } catch (error) {
    // The service writes times, such as 2026, that are no points of a mirror.
    if (error instanceof PointError) return false;
    throw error;
  }
}

/** Both points may be later than the last run. */
function warnOfSameRun({ from, to }: OpenDiff<unknown>, { quiet }: Settings, io: Io): void {
  const [earlier, later] = [from?.place, to.place];
  if (quiet || earlier === undefined || !("mirror" in earlier) || !("mirror" in later)) return;
  if (earlier.mirror === later.mirror && earlier.run === later.run)
    io.err(`Both points are of run ${later.run}, so nothing can differ.\n`);
}

function warnOfNotCompared({ notCompared }: OpenDiff<unknown>, { quiet }: Settings, io: Io): void {
  if (!quiet && notCompared.length > 0)
    io.err(`Not compared, because only one of the two has it: ${notCompared.join(", ")}.\n`);
}
