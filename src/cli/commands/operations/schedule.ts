import { type Command, Option } from "commander";
import { systemClock } from "../../../platform/clock.ts";
import { formatDuration } from "../../../presentation/durations.ts";
import { formatNext } from "../../../presentation/times.ts";
import { readRuns } from "../../../schedule/run-history.ts";
import { addSchedule, listSchedules, readSchedule, removeSchedule } from "../../../schedule/schedules.ts";
import { shortDurationMillis } from "../../flags/option-values.ts";
import { formatRuns, formatSchedules, stepOf, toListed } from "../../format/operations/schedules.ts";
import { readScheduledCommand } from "../../scheduled-command.ts";
import { environmentOf, inheritedSettings } from "../../self-command.ts";
import { readSettings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";
import { configureRun, refuseMirrorOptions } from "./schedule-run.ts";
import { configureSystemSchedulers } from "./system-schedulers.ts";

interface AddFlags {
  readonly cron: string;
  readonly tz?: string;
  readonly jitter?: number;
  readonly replace?: boolean;
}

export function configure(command: Command, io: Io): void {
  addHelp(command, {
    examples: [
      'armoire schedule add daily --cron "0 6 * * *" --tz Europe/Paris -- sync',
      "armoire schedule list",
      "armoire schedule run",
    ],
    exitCodes: [...exitCodesOfReading, "locked"],
  });
  configureAdd(command, io);
  const list = command
    .command("list")
    .description("list schedules with their next and last run, or the last 20 runs of one")
    .argument("[name]", "the schedule whose runs to list")
    .action((name: string | undefined, _flags: object, list: Command) => listAll(name, list, io));
  addHelp(list, {
    examples: ["armoire schedule list", "armoire schedule list daily --json"],
    exitCodes: exitCodesOfReading,
  });
  const remove = command
    .command("remove")
    .description("remove a schedule and its run history; a running run continues")
    .argument("<name>", "the schedule")
    .action((name: string, _flags: object, remove: Command) => removeOne(name, remove, io));
  addHelp(remove, {
    examples: ["armoire schedule remove daily"],
    exitCodes: [...exitCodesOfReading, "locked"],
  });
  configureRun(command, io);
  configureSystemSchedulers(command, io);
}

function configureAdd(schedule: Command, io: Io): void {
  const add = schedule
    .command("add")
    .description("run a command at set times")
    .argument("<name>", "a name of a-z, 0-9, _ and -")
    .argument(
      "<command...>",
      "sync, export, backup, `backup create`, `snapshot create` or `snapshot publish` with options, after --",
    )
    .requiredOption("--cron <expression>", 'minute, hour, day, month and weekday, such as "0 6 * * *"')
    .addOption(
      new Option("--tz <zone>", "the time zone, by its IANA name").default(undefined, "this machine's"),
    )
    .addOption(
      new Option(
        "--jitter <duration>",
        "delay every run by the same random time, at most this long, such as 0s or 10m",
      )
        .argParser(shortDurationMillis)
        .default(undefined, "a tenth of the time between two runs, at most 1m"),
    )
    .option("--replace", "replace a schedule of this name, and keep its run history")
    .action((name: string, args: string[], flags: AddFlags, add: Command) =>
      addOne(name, args, flags, add, io),
    );
  addHelp(add, {
    details: [
      "Nothing runs until `armoire schedule run` is started. The command is checked now, and its mistakes are reported. " +
        "Relative paths start from the current folder. The schedule is stored in schedules.json in the data directory. A " +
        "command that contains a secret is refused: runs get secrets from the environment of `armoire schedule run`, from " +
        "files, or from the keychain.",
      "A cron expression may have names (MON, JAN), lists, ranges, steps, L, W and #, a sixth field for seconds in front, " +
        "or be a word such as @daily. If it has a day of the month and a weekday, either of them is enough; with + before " +
        "the weekday, both must match. When the clocks go forward, a run at a skipped time starts right afterwards. When they " +
        "go back, a repeated time runs once. Intervals of minutes or hours do not change.",
    ],
    examples: [
      'armoire schedule add daily --cron "0 6 * * *" --tz Europe/Paris -- sync',
      "armoire schedule add ada --cron @daily -- backup --account ada --to backups",
      'armoire schedule add weekly --cron "0 7 * * MON" -- export --out catalogue',
    ],
    exitCodes: [...exitCodesOfReading, "locked"],
  });
}

async function addOne(
  name: string,
  args: readonly string[],
  { cron, tz, jitter, replace = false }: AddFlags,
  command: Command,
  io: Io,
): Promise<void> {
  refuseMirrorOptions(command);
  const settings = readSettings(command, io);
  const inherited = inheritedSettings(settings, command);
  const folder = process.cwd();
  const { mirror } = await readScheduledCommand(args, folder, { ...io, env: environmentOf(inherited, io) });
  const zone = tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const added = addSchedule({
    name,
    cron,
    tz: zone,
    ...(jitter === undefined ? {} : { jitterMillis: jitter }),
    replace,
    args,
    folder,
    mirror,
    dataDir: inherited.dataDir,
    clock: systemClock,
  });
  const listed = toListed(added, readRuns(inherited.dataDir, name));
  if (settings.json) io.out(toJsonLine(listed));
  else if (!settings.quiet) {
    const late =
      added.delayMillis === 0
        ? ""
        : `, ${formatDuration(added.delayMillis / 1000)} after the time of --cron (see --jitter)`;
    printText(
      io,
      `${name} runs next at ${formatNext(listed.nextAt, Date.now(), stepOf(added))}${late}, if \`armoire schedule run\` is running, or after \`armoire schedule install ${name}\`.\n`,
    );
  }
}

function listAll(name: string | undefined, command: Command, io: Io): void {
  const settings = readSettings(command, io);
  const dataDir = settings.dataDir.value;
  if (name !== undefined) {
    const listed = toListed(readSchedule(dataDir, name), readRuns(dataDir, name));
    if (settings.json) io.out(toJsonLine(listed));
    else printText(io, formatRuns(listed, io.screen));
    return;
  }
  const listed = listSchedules(dataDir).map((schedule) =>
    toListed(schedule, readRuns(dataDir, schedule.name)),
  );
  if (settings.json) io.out(toJsonLine(listed));
  else printText(io, formatSchedules(listed, Date.now(), io.screen));
}

function removeOne(name: string, command: Command, io: Io): void {
  const settings = readSettings(command, io);
  const removed = removeSchedule(settings.dataDir.value, name, systemClock);
  if (settings.json) io.out(toJsonLine(removed));
  else if (!settings.quiet) printText(io, `Removed ${name}. If it is running, that run continues.\n`);
}
