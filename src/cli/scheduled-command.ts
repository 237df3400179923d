/** A command that is to be run later: read as it will be read then, so that what would be refused then is refused now. */
import { dirname, extname, resolve, sep } from "node:path";
import { Command, CommanderError } from "commander";
import { looksLikeToken } from "../accounts/account.ts";
import { commands } from "./commands.ts";
import { type AccountFlags, requireAccountFor } from "./flags/account-flags.ts";
import { scopeOptionsFor } from "./flags/scope-flags.ts";
import { type RedisFlags, readRedisAddress } from "./secrets/redis-address.ts";
import { addGlobalOptions } from "./settings/global-options.ts";
import { candidateMirrorFiles, mirrorFileToSync } from "./settings/mirror-file.ts";
import { readSettings, type Settings } from "./settings/settings.ts";
import { requireAccountToBackUp } from "./sync-and-backup.ts";
import { CliError } from "./terminal/exit-codes.ts";
import { redactTokens } from "./terminal/format.ts";
import type { Io } from "./terminal/io.ts";

export interface ScheduledCommand {
  /** What its runs are of. */
  readonly mirror: string;
  /** The folders that it writes into. */
  readonly writes: readonly string[];
}

interface ScheduledFlags extends RedisFlags, AccountFlags {
  readonly to?: string;
  readonly out?: string;
}

const schedulable = ["sync", "backup run", "backup create", "export"];

/**
 * @param args the command and its options
 * @param folder that paths in them are relative to
 * @param io with the environment that it will have
 * @throws CliError, AccountError
 */
export async function readScheduledCommand(
  args: readonly string[],
  folder: string,
  io: Io,
): Promise<ScheduledCommand> {
  refuseSecrets(args);
  const leaf = await parseCommand(args, io);
  const name = leaf.parent?.parent ? `${leaf.parent.name()} ${leaf.name()}` : leaf.name();
  if (!schedulable.includes(name)) throw notSchedulable(name);
  const settings = readSettings(leaf, io);
  const flags = leaf.opts<ScheduledFlags>();
  requireSense(name, leaf, flags, settings, io);
  const { to, out } = flags;
  const mirror = mirrorOf(settings, name);
  return {
    mirror: mirror ?? "catalogue",
    writes: outermost([
      settings.dataDir.value,
      ...(mirror === null ? [] : [dirname(mirror)]),
      // A backup may be named as a file, and an export's folder is made anew in the one above it.
      ...(to === undefined ? [] : [isArchive(to) ? dirname(resolve(folder, to)) : resolve(folder, to)]),
      ...(out === undefined ? [] : [dirname(resolve(folder, out))]),
    ]),
  };
}

/** What the command itself would refuse before it does anything. @throws CliError */
function requireSense(name: string, leaf: Command, flags: ScheduledFlags, settings: Settings, io: Io): void {
  if (flags.redis !== undefined) readRedisAddress(flags, io);
  if (name === "backup run") requireAccountToBackUp(settings);
  if (name !== "sync") return;
  requireAccountFor(flags, settings);
  scopeOptionsFor(settings.account, leaf);
}

/** @returns the command that would act, having read its options @throws CliError */
async function parseCommand([name = "", ...rest]: readonly string[], io: Io): Promise<Command> {
  const entry = commands[name];
  if (entry === undefined || !schedulable.some((known) => known.split(" ")[0] === name))
    throw notSchedulable(name);
  const silence = { writeOut: () => {}, writeErr: () => {} };
  const program = addGlobalOptions(new Command("armoire")).exitOverride().configureOutput(silence);
  const command = addGlobalOptions(program.command(name).exitOverride().configureOutput(silence));
  (await entry.load()).configure(command, io);
  let acting: Command | null = null;
  for (const leaf of command.commands.length === 0 ? [command] : command.commands) {
    leaf.configureOutput(silence).action(() => {
      acting = leaf;
    });
  }
  try {
    await program.parseAsync([name, ...rest], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const why = error.exitCode === 0 ? "it would only tell of itself" : error.message.replace(/^error: /, "");
    throw refused(name, redactTokens(why));
  }
  if (acting === null) throw refused(name, "nothing is to be done");
  return acting;
}

function mirrorOf(settings: Settings, name: string): string | null {
  if (name === "sync" && settings.baseUrl.value !== null) return mirrorFileToSync(settings).file;
  if (settings.mirror.value !== null) return settings.mirror.value;
  const [only, ...others] = candidateMirrorFiles(settings);
  return others.length === 0 ? (only ?? null) : null;
}

/** Without those that are in another. */
function outermost(folders: readonly string[]): string[] {
  const isIn = (folder: string, other: string) => folder !== other && folder.startsWith(`${other}${sep}`);
  return [...new Set(folders)].filter((folder) => !folders.some((other) => isIn(folder, other)));
}

function isArchive(path: string): boolean {
  return [".zip", ".age"].includes(extname(path));
}

/** What is scheduled is kept in a file, and is on a command line whenever it runs. @throws CliError, which does not show it */
function refuseSecrets(args: readonly string[]): void {
  for (const arg of args) {
    const value = arg.replace(/^--[a-z-]+=/, "");
    const hasPassword = URL.canParse(value) && new URL(value).password !== "";
    // A path may be long and have digits in it.
    if (!hasPassword && (!looksLikeToken(value) || /[/\\]/.test(value))) continue;
    throw new CliError(
      "usage",
      "There seems to be a secret in the command, so it is not shown here, and nothing was scheduled.",
      "Secrets belong into files that the environment names, such as ARMOIRE_APP_SECRET_FILE; others may read the command line, so get a new one.",
    );
  }
}

function notSchedulable(name: string): CliError {
  const isCommand = Object.keys(commands).includes(name.split(" ")[0] ?? "");
  return new CliError(
    "usage",
    isCommand ? `\`armoire ${name}\` cannot be scheduled.` : "There is no such command to schedule.",
    "What can: sync, backup (alone or `backup create`) and export, with their options after --.",
  );
}

function refused(name: string, why: string): CliError {
  return new CliError(
    "usage",
    `The command to schedule is refused: ${why.split("\n")[0]}`,
    `\`armoire ${name} --help\` says how it is used.`,
  );
}
