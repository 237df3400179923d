/**
 * Installs schedules in the scheduler of the operating system: systemd timers of the user, launchd agents, or tasks of
 * Windows. Only systemd has checked what is written here.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { replaceFile } from "../../platform/atomic-file.ts";
import { messageOf, toFileError } from "../../platform/errors.ts";
import { makeFolders, removeFile } from "../../platform/folders.ts";
import { ScheduleError } from "../errors.ts";
import type { Schedule } from "../schedule.ts";
import { requireScheduleName } from "../schedules.ts";
import type { Installation, PrintedFile } from "./installation.ts";
import { printLaunchAgent } from "./launch-agent.ts";
import { printUserUnits } from "./systemd-units.ts";
import { printWindowsTask } from "./windows-task.ts";

/** Where a user's schedules are installed. */
export interface UserPlace {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** `XDG_CONFIG_HOME`, if it is set. */
  readonly configHome: string | null;
  readonly userId: number;
  readonly dataDir: string;
}

/** A command of the system. */
export interface SystemCommand {
  readonly words: readonly [string, ...string[]];
  /** Whether its failure is ignored, because what it undoes may not be there. */
  readonly mayFail: boolean;
}

export interface InstallPlan {
  readonly files: readonly PrintedFile[];
  /** Run after the files are written. */
  readonly commands: readonly SystemCommand[];
  /** False for files that follow the documentation of a scheduler and were never run by it. */
  readonly isTried: boolean;
}

export interface RemovalPlan {
  /** Run before the files are removed. */
  readonly commandsBefore: readonly SystemCommand[];
  readonly paths: readonly string[];
  readonly commandsAfter: readonly SystemCommand[];
}

const must = (...words: [string, ...string[]]): SystemCommand => ({ words, mayFail: false });
const may = (...words: [string, ...string[]]): SystemCommand => ({ words, mayFail: true });

/** @throws ScheduleError `inexpressible`, `unsupported` */
export function planInstall(schedule: Schedule, installation: Installation, place: UserPlace): InstallPlan {
  const { name } = schedule;
  switch (place.platform) {
    case "linux":
      return {
        files: printUserUnits(schedule, installation, folderOf(place)),
        commands: [
          must("systemctl", "--user", "daemon-reload"),
          must("systemctl", "--user", "enable", "--now", `armoire-${name}.timer`),
        ],
        isTried: true,
      };
    case "darwin": {
      const file = printLaunchAgent(schedule, installation, folderOf(place));
      const domain = `gui/${place.userId}`;
      return {
        files: [file],
        commands: [
          may("launchctl", "bootout", `${domain}/${labelOf(name)}`),
          must("launchctl", "bootstrap", domain, file.path),
        ],
        isTried: false,
      };
    }
    case "win32": {
      const file = printWindowsTask(schedule, installation, folderOf(place));
      return {
        files: [file],
        commands: [must("schtasks", "/Create", "/F", "/TN", taskOf(name), "/XML", file.path)],
        isTried: false,
      };
    }
    default:
      throw unsupported(place.platform);
  }
}

/** @throws ScheduleError `bad-name`, `unsupported` */
export function planRemoval(name: string, place: UserPlace): RemovalPlan {
  requireScheduleName(name);
  const paths = fileNames(name, place).map((file) => join(folderOf(place), file));
  switch (place.platform) {
    case "linux":
      return {
        commandsBefore: [may("systemctl", "--user", "disable", "--now", `armoire-${name}.timer`)],
        paths,
        commandsAfter: [must("systemctl", "--user", "daemon-reload")],
      };
    case "darwin":
      return {
        commandsBefore: [may("launchctl", "bootout", `gui/${place.userId}/${labelOf(name)}`)],
        paths,
        commandsAfter: [],
      };
    default:
      return {
        commandsBefore: [may("schtasks", "/Delete", "/F", "/TN", taskOf(name))],
        paths,
        commandsAfter: [],
      };
  }
}

/** Whether files of the schedule are installed. @throws ScheduleError `bad-name`, `unsupported` */
export const isInstalled = (name: string, place: UserPlace): boolean =>
  planRemoval(name, place).paths.some((path) => existsSync(path));

const labelOf = (name: string): string => `armoire.${name}`;
const taskOf = (name: string): string => `Armoire\\${name}`;

function folderOf({ platform, home, configHome, dataDir }: UserPlace): string {
  if (platform === "linux") return join(configHome ?? join(home, ".config"), "systemd/user");
  if (platform === "darwin") return join(home, "Library/LaunchAgents");
  if (platform === "win32") return dataDir;
  throw unsupported(platform);
}

function fileNames(name: string, { platform }: UserPlace): string[] {
  if (platform === "linux") return [`armoire-${name}.service`, `armoire-${name}.timer`];
  return platform === "darwin" ? [`${labelOf(name)}.plist`] : [`armoire-${name}.xml`];
}

const unsupported = (platform: string): ScheduleError =>
  new ScheduleError(
    "unsupported",
    `Schedules cannot be installed on ${platform}.`,
    "Keep `armoire schedule run` running, or use `armoire schedule print cron`.",
  );

/** Runs a command. Rejects with its message if it fails. */
export type RunCommand = (words: readonly [string, ...string[]]) => Promise<void>;

/** After a failed command, files that did not exist before are removed. @throws ScheduleError `not-installed`; FileError */
export async function install(
  { files, commands }: Pick<InstallPlan, "files" | "commands">,
  run: RunCommand = runCommand,
): Promise<void> {
  const created = files.map(({ path }) => path).filter((path) => !existsSync(path));
  try {
    for (const { path, content } of files) {
      makeFolders(dirname(path));
      replaceFile(path, path.endsWith(".xml") ? Buffer.from(`\ufeff${content}`, "utf16le") : content);
    }
    await runAll(commands, run);
  } catch (error) {
    for (const path of created) removeFile(path);
    throw toFileError(error, files[0]?.path ?? "");
  }
}

/** @throws ScheduleError `not-installed`; FileError */
export async function uninstall(
  { commandsBefore, paths, commandsAfter }: RemovalPlan,
  run: RunCommand = runCommand,
): Promise<void> {
  await runAll(commandsBefore, run);
  try {
    for (const path of paths) removeFile(path);
  } catch (error) {
    throw toFileError(error, paths[0] ?? "");
  }
  await runAll(commandsAfter, run);
}

async function runAll(commands: readonly SystemCommand[], run: RunCommand): Promise<void> {
  for (const { words, mayFail } of commands) {
    try {
      await run(words);
    } catch (error) {
      if (mayFail) continue;
      throw new ScheduleError(
        "not-installed",
        `\`${words.join(" ")}\` failed: ${messageOf(error).trim()}`,
        "Nothing was installed. `armoire schedule run` needs no scheduler of the system.",
      );
    }
  }
}

const execute = promisify(execFile);

async function runCommand([program, ...args]: readonly [string, ...string[]]): Promise<void> {
  await execute(program, args, { windowsHide: true }).catch((error: Error & { readonly stderr?: string }) => {
    throw new Error(error.stderr?.trim() || error.message);
  });
}
