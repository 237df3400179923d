/** `armoire schedule add|list|remove|run|print`: syncs, backups and exports that come again and again. */
import { Argument, type Command } from "commander";
import { systemClock, toIso } from "../../../platform/clock.ts";
import { timeAfter } from "../../../schedule/cron-times.ts";
import { runSchedules } from "../../../schedule/run/run-schedules.ts";
import { readRuns } from "../../../schedule/run-history.ts";
import type { Schedule } from "../../../schedule/schedule.ts";
import { addSchedule, listSchedules, readSchedule, removeSchedule } from "../../../schedule/schedules.ts";
import {
  printSchedule,
  type SystemScheduler,
  systemSchedulers,
} from "../../../schedule/system-schedulers.ts";
import { durationMillis } from "../../flags/option-values.ts";
import {
  formatEnd,
  formatRuns,
  formatSchedules,
  type ListedSchedule,
  outcomeOf,
  stepOf,
} from "../../format/schedules.ts";
import { openLog } from "../../log.ts";
import { readScheduledCommand } from "../../scheduled-command.ts";
import { readAppCredential } from "../../secrets/credentials.ts";
import { type RedisFlags, readRedisAddress } from "../../secrets/redis-address.ts";
import { environmentOf, handedOn, selfCommand, userName, version } from "../../self-command.ts";
import { addGlobalOptions, type GlobalOptions } from "../../settings/global-options.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError, exitCodes } from "../../terminal/exit-codes.ts";
import { formatDuration, formatMoment, redactTokens } from "../../terminal/format.ts";
import type { Io } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/text-table.ts";

interface AddFlags {
  readonly cron: string;
  readonly tz?: string;
  readonly jitter?: number;
}

export function configure(command: Command, io: Io): void {
  command.addHelpText("after", help);
  const subcommand = (name: string, description: string) =>
    addGlobalOptions(command.command(name).exitOverride()).description(description);

  subcommand("add", "have a command run again and again")
    .argument("<name>", "what to call it: a-z, 0-9, _ and -")
    .argument("<command...>", "sync, backup or export with its options, after --")
    .requiredOption("--cron <expression>", 'when, such as "0 6 * * *"; a sixth field in front is for seconds')
    .option("--tz <zone>", "the time zone that it is meant in; this machine's unless told")
    .option(
      "--jitter <duration>",
      "begin up to so much later, each time the same, such as 10m",
      durationMillis,
    )
    .addHelpText("after", addHelp)
    .action((name: string, args: string[], flags: AddFlags, add: Command) =>
      addOne(name, args, flags, add, io),
    );
  subcommand("list", "the schedules, when each is next due, and what became of the last run")
    .argument("[name]", "the last runs of this one")
    .addHelpText("after", "\nExamples:\n  armoire schedule list\n  armoire schedule list nightly --json\n")
    .action((name: string | undefined, _flags: object, list: Command) => listAll(name, list, io));
  subcommand("remove", "take a schedule away, and what is known of its runs")
    .argument("<name>", "the schedule")
    .addHelpText("after", "\nExamples:\n  armoire schedule remove nightly\n")
    .action((name: string, _flags: object, remove: Command) => removeOne(name, remove, io));
  subcommand("run", "begin what is due, until it is ended")
    .option("--redis <url>", "share the runs with other schedulers at this Redis (ARMOIRE_REDIS_URL)")
    .addHelpText("after", runHelp)
    .action((flags: RedisFlags, run: Command) => runAll(flags, run, io));
  subcommand("print", "a unit of systemd or a line of a crontab, to begin it instead of `schedule run`")
    .addArgument(new Argument("<scheduler>", "whose words to use").choices(systemSchedulers))
    .argument("[name]", "only this schedule")
    .addHelpText(
      "after",
      "\nExamples:\n  armoire schedule print systemd nightly\n  armoire schedule print cron\n",
    )
    .action((scheduler: SystemScheduler, name: string | undefined, _flags: object, print: Command) =>
      printAll(scheduler, name, print, io),
    );
}

async function addOne(
  name: string,
  args: readonly string[],
  { cron, tz, jitter = 0 }: AddFlags,
  command: Command,
  io: Io,
): Promise<void> {
  const settings = readSettings(command, io);
  const handed = handedOn(settings, command);
  const folder = process.cwd();
  const { mirror } = await readScheduledCommand(args, folder, { ...io, env: environmentOf(handed, io) });
  const zone = tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const added = addSchedule({
    name,
    cron,
    tz: zone,
    jitterMillis: jitter,
    args,
    folder,
    mirror,
    dataDir: handed.dataDir,
    clock: systemClock,
  });
  const listed = toListed(added, handed.dataDir);
  if (settings.json) io.out(`${JSON.stringify(listed)}\n`);
  else if (!settings.quiet) {
    const late =
      added.delayMillis === 0 ? "" : `, ${formatDuration(added.delayMillis / 1000)} after its time`;
    io.out(
      `${name} runs next at ${formatMoment(listed.nextAt ?? "", Date.now(), stepOf(added))}${late}, where \`armoire schedule run\` is running.\n`,
    );
  }
}

function listAll(name: string | undefined, command: Command, io: Io): void {
  const settings = readSettings(command, io);
  const dataDir = settings.dataDir.value;
  if (name !== undefined) {
    const listed = toListed(readSchedule(dataDir, name), dataDir);
    io.out(settings.json ? `${JSON.stringify(listed)}\n` : formatRuns(listed));
    return;
  }
  const listed = listSchedules(dataDir).map((schedule) => toListed(schedule, dataDir));
  io.out(settings.json ? `${JSON.stringify(listed)}\n` : formatSchedules(listed, Date.now()));
}

function toListed(schedule: Schedule, dataDir: string): ListedSchedule {
  const next = timeAfter(schedule, Date.now());
  return {
    ...schedule,
    nextAt: next === null ? null : toIso(next),
    runs: readRuns(dataDir, schedule.name).map((run) => ({ ...run, outcome: outcomeOf(run) })),
  };
}

function removeOne(name: string, command: Command, io: Io): void {
  const settings = readSettings(command, io);
  const removed = removeSchedule(settings.dataDir.value, name, systemClock);
  if (settings.json) io.out(`${JSON.stringify(removed)}\n`);
  else if (!settings.quiet) io.out(`${name} is removed; a run of it that is under way goes on to its end.\n`);
}

async function runAll(flags: RedisFlags, command: Command, io: Io): Promise<void> {
  if (command.optsWithGlobals<GlobalOptions>().account !== undefined)
    throw new CliError(
      "usage",
      "--account is for one account, and `schedule run` runs all schedules of the data directory.",
      "Whose data a schedule is about is said when it is added, after --.",
    );
  const settings = readSettings(command, io);
  const handed = handedOn(settings, command);
  const redis = readRedisAddress(flags, io);
  const ending = new AbortController();
  const log = openLog(settings, io, { credentials: [readAppCredential(io)], redis });
  io.onInterrupt((exitCode) => {
    log.info("ending", "Ending: runs that are under way save what they have. Again to end at once.");
    ending.abort(exitCode === exitCodes.interrupted ? "SIGINT" : "SIGTERM");
  });
  await runSchedules({
    dataDir: handed.dataDir,
    program: selfCommand(environmentOf(handed, io)),
    clock: systemClock,
    ...(redis !== null && { redis }),
    ending: ending.signal,
    hide: redactTokens,
    onReady(schedules) {
      const { dataDir } = handed;
      const text = `Running ${schedules} schedules of ${dataDir}. Ctrl-C ends it.`;
      log.info("ready", text, { version: version(), schedules, dataDir });
    },
    onWarning: (text) => log.warn("remark", escapeControls(text)),
    onBegin({ name }, time) {
      const due = toIso(time);
      log.info("begun", `${name}: begun, due ${due}`, { schedule: name, due });
    },
    onLine: ({ name }, line) => log.warn("said", `${name}: ${escapeControls(line)}`, { schedule: name }),
    onEnd(schedule, run) {
      const [outcome, { name }, { exitCode, seconds }] = [outcomeOf(run), schedule, run];
      const tell = exitCode === exitCodes.done ? log.info : log.warn;
      tell("ended", formatEnd(schedule, run), { schedule: name, outcome, exitCode, seconds });
      if (settings.json) io.out(`${JSON.stringify({ name, ...run, outcome })}\n`);
    },
  });
}

async function printAll(
  scheduler: SystemScheduler,
  name: string | undefined,
  command: Command,
  io: Io,
): Promise<void> {
  const settings = readSettings(command, io);
  const handed = handedOn(settings, command);
  const { dataDir } = handed;
  const env = environmentOf(handed, io);
  const program = selfCommand(env);
  const schedules = name === undefined ? listSchedules(dataDir) : [readSchedule(dataDir, name)];
  const files = [];
  for (const schedule of schedules) {
    const { writes } = await readScheduledCommand(schedule.args, schedule.folder, { ...io, env });
    const { baseUrl, serviceName } = settings;
    files.push(
      ...printSchedule(schedule, scheduler, {
        command: [program.command, ...program.args],
        user: userName(),
        dataDir,
        writes,
        baseUrl: baseUrl.value,
        serviceName: serviceName.from === "default" ? null : serviceName.value,
      }),
    );
  }
  if (settings.json) io.out(`${JSON.stringify(files)}\n`);
  else io.out(files.map(({ path, content }) => `# ${path}\n${content}`).join("\n"));
}

const help = `
Examples:
  armoire schedule add daily --cron "0 6 * * *" --tz Europe/Paris -- sync --base-url https://api.example.org/
  armoire schedule list
  armoire schedule run

Exit codes: 0 done, 1 failed, 2 wrong usage or no such schedule, 4 wrong settings, 11 another \`schedule run\` is at work,
14 the schedules are damaged or of a later version.`;

const addHelp = `
Examples:
  armoire schedule add daily --cron "0 6 * * *" --tz Europe/Paris -- sync --base-url https://api.example.org/
  armoire schedule add ada --cron "30 5 * * *" --jitter 20m -- backup --account ada --to backups --keep-daily 30
  armoire schedule add weekly --cron "0 7 * * MON" -- export --out catalogue

Paths are meant in this folder, wherever \`schedule run\` is started. Secrets are never part of a schedule: its runs have the
environment of \`schedule run\`. A time that clocks skip comes right after, one that they repeat comes once.`;

const runHelp = `
Examples:
  armoire schedule run
  armoire schedule run --redis redis://127.0.0.1:6379

Each run is a process of its own. No two runs of one mirror go on at a time; what was missed is made up for once. Asked to end
(Ctrl-C, SIGTERM), it has what is under way save what it has, waits up to ten seconds, and ends with 0. Without --redis one such process
runs the schedules of a data directory; with it any number does, and each run is begun by one of them. What it says goes to stderr,
as JSON lines with --json or where no terminal shows it; with --json the end of each run goes to stdout too.`;
