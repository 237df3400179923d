/** `armoire schedule print|install|uninstall`: schedules for the operating system's own schedulers. */
import { homedir } from "node:os";
import { Argument, type Command } from "commander";
import type { Schedule } from "../../../schedule/schedule.ts";
import { listSchedules, readSchedule } from "../../../schedule/schedules.ts";
import {
  install,
  isInstalled,
  planInstall,
  planRemoval,
  type UserPlace,
  uninstall,
} from "../../../schedule/system/install.ts";
import type { Installation } from "../../../schedule/system/installation.ts";
import {
  printSchedule,
  type SystemScheduler,
  systemSchedulers,
} from "../../../schedule/system/system-schedulers.ts";
import {
  formatFiles,
  formatInstallPlan,
  formatRemovalPlan,
  untriedNote,
} from "../../format/operations/schedules.ts";
import { readScheduledCommand } from "../../scheduled-command.ts";
import { environmentOf, inheritedSettings, lastingPath, selfCommand, userName } from "../../self-command.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

export function configureSystemSchedulers(command: Command, io: Io): void {
  const print = command
    .command("print")
    .description("print systemd units or crontab lines, to use instead of `armoire schedule run`")
    .addArgument(new Argument("<scheduler>", "the system's scheduler").choices(systemSchedulers))
    .argument("[name]", "print only this schedule")
    .action((scheduler: SystemScheduler, name: string | undefined, _flags: object, print: Command) =>
      printAll(scheduler, name, print, io),
    );
  addHelp(print, {
    details: [
      "For systemd it prints a hardened service, which may write only where the command writes, and a timer; for cron it " +
        "prints one crontab line. Paths are those of this installation. Secrets are read from files: comments in the " +
        "service explain how. These runs do not appear in `armoire schedule list`.",
      "Armoire in npx's cache is refused with exit code 1, as npx may delete it; of a clone, its own path is printed.",
      "A schedule that the other scheduler cannot express exactly is refused with exit code 1: cron has no seconds, and " +
        "neither has L, W and #. systemd skips a time that the clocks skip; cron uses the machine's time zone.",
    ],
    examples: ["armoire schedule print systemd daily", "armoire schedule print cron"],
    exitCodes: exitCodesOfReading,
  });
  configureInstall(command, io);
}

async function printAll(
  scheduler: SystemScheduler,
  name: string | undefined,
  command: Command,
  io: Io,
): Promise<void> {
  const { settings, chosen } = await readInstallable(name, command, io);
  const files = chosen.flatMap(({ schedule, installation }) =>
    printSchedule(schedule, scheduler, installation),
  );
  if (settings.json) io.out(toJsonLine(files));
  else io.out(formatFiles(files));
}

/** The named schedule or all, each with how this program is started for it. */
async function readInstallable(name: string | undefined, command: Command, io: Io) {
  const settings = readSettings(command, io);
  const inherited = inheritedSettings(settings, command);
  const { dataDir } = inherited;
  const env = environmentOf(inherited, io);
  const { command: node, args } = selfCommand(env);
  const program = [node, ...args.slice(0, -1), lastingPath(args.at(-1) ?? "")];
  const { baseUrl, serviceName } = settings;
  const secretFiles = Object.fromEntries(
    Object.entries(env).filter(([variable, file]) => /^ARMOIRE_\w+_FILE$/.test(variable) && file),
  ) as Record<string, string>;
  const schedules = name === undefined ? listSchedules(dataDir) : [readSchedule(dataDir, name)];
  const chosen: { readonly schedule: Schedule; readonly installation: Installation }[] = [];
  for (const schedule of schedules) {
    const { writes } = await readScheduledCommand(schedule.args, schedule.folder, { ...io, env });
    const installation = {
      command: program,
      user: userName(),
      ...{ dataDir, writes, secretFiles },
      baseUrl: baseUrl.value,
      serviceName: serviceName.from === "default" ? null : serviceName.value,
    };
    chosen.push({ schedule, installation });
  }
  return { settings, dataDir, chosen };
}

function configureInstall(schedule: Command, io: Io): void {
  const add = schedule
    .command("install")
    .description("let the system's scheduler start schedules, also after a restart")
    .argument("[name]", "install only this schedule")
    .option("--dry-run", "print the files and commands, and change nothing")
    .action((name: string | undefined, flags: { readonly dryRun?: boolean }, add: Command) =>
      installAll(name, flags, add, io),
    );
  addHelp(add, {
    details: [
      "Uses a systemd timer of your user on Linux, a launchd agent on macOS, and Task Scheduler on Windows; the last two are " +
        "written from their documentation and not tried. No administrator is needed. Installing again replaces what is " +
        "installed, as after a change of the schedule. Runs do not appear in `armoire schedule list`, and `armoire schedule run` " +
        "would start them a second time.",
      "They run while you are logged in; on Linux, `loginctl enable-linger` lets them run always. Missed runs are made up for " +
        "once; launchd does so only for those missed while the computer was asleep. " +
        "Secrets come from the keychain, or from the files that ARMOIRE_APP_KEY_FILE and the like name now.",
      "A schedule that the scheduler cannot express is refused with exit code 1.",
    ],
    examples: [
      "armoire schedule install --dry-run",
      "armoire schedule install daily",
      "armoire schedule uninstall daily",
    ],
    exitCodes: exitCodesOfReading,
  });
  const remove = schedule
    .command("uninstall")
    .description("undo `armoire schedule install`; the schedule stays")
    .argument("<name>", "the schedule")
    .option("--dry-run", "print the files and commands, and change nothing")
    .action((name: string, flags: { readonly dryRun?: boolean }, remove: Command) =>
      uninstallOne(name, flags, remove, io),
    );
  addHelp(remove, {
    examples: ["armoire schedule uninstall daily"],
    exitCodes: exitCodesOfReading,
  });
}

async function installAll(
  name: string | undefined,
  { dryRun = false }: { readonly dryRun?: boolean },
  command: Command,
  io: Io,
): Promise<void> {
  const { settings, dataDir, chosen } = await readInstallable(name, command, io);
  const place = userPlace(dataDir, io);
  const plans = chosen.map(({ schedule, installation }) => planInstall(schedule, installation, place));
  if (!dryRun) for (const plan of plans) await install(plan);
  if (!settings.quiet && plans.some(({ isTried }) => !isTried)) io.err(untriedNote);
  if (settings.json) return void io.out(toJsonLine(plans));
  if (dryRun) return void io.out(plans.map(formatInstallPlan).join("\n"));
  if (!settings.quiet) for (const { schedule } of chosen) printText(io, `Installed ${schedule.name}.\n`);
}

async function uninstallOne(
  name: string,
  { dryRun = false }: { readonly dryRun?: boolean },
  command: Command,
  io: Io,
): Promise<void> {
  const settings = readSettings(command, io);
  const place = userPlace(settings.dataDir.value, io);
  if (!isInstalled(name, place))
    throw new CliError(
      "usage",
      `The schedule ${escapeControls(name)} is not installed.`,
      "`armoire schedule install` installs schedules.",
    );
  const plan = planRemoval(name, place);
  if (!dryRun) await uninstall(plan);
  if (settings.json) io.out(toJsonLine(plan));
  else if (dryRun) io.out(formatRemovalPlan(plan));
  else if (!settings.quiet) printText(io, `Uninstalled ${name}. The schedule stays.\n`);
}

const userPlace = (dataDir: string, { env }: Io): UserPlace => ({
  platform: process.platform,
  home: env.HOME || homedir(),
  configHome: env.XDG_CONFIG_HOME || null,
  userId: process.getuid?.() ?? 0,
  dataDir,
});
