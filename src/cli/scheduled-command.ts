/** Parses a command that is to run later with today's rules, so that a mistake is reported when the schedule is added. */
import { dirname, extname, resolve, sep } from "node:path";
import { Command, CommanderError } from "commander";
import { looksLikeToken } from "../accounts/account-name.ts";
import { areSingleLines } from "../schedule/schedule.ts";
import { type AccountFlags, requireAccountFor } from "./flags/account-flags.ts";
import { scopeOptionsFor } from "./flags/scope-flags.ts";
import { type RedisFlags, readRedisAddress } from "./secrets/redis-address.ts";
import { refuseEmptyValues } from "./settings/empty-values.ts";
import { addGlobalOptions } from "./settings/global-options.ts";
import { candidateMirrorFiles, mirrorFileToSync } from "./settings/mirror-file.ts";
import { type PublicationFlags, requireLicense } from "./settings/publication.ts";
import { readSettings, type Settings } from "./settings/settings.ts";
import { requireAccountToBackUp } from "./sync-and-backup.ts";
import { CliError } from "./terminal/exit-codes.ts";
import { redactTokens } from "./terminal/format.ts";
import type { Io } from "./terminal/io.ts";

export interface ScheduledCommand {
  /** The mirror file that its runs lock. */
  readonly mirror: string;
  /** The folders that its runs write into. */
  readonly writes: readonly string[];
}

interface ScheduledFlags extends RedisFlags, AccountFlags, PublicationFlags {
  readonly to?: string;
  readonly out?: string;
  readonly metricsFile?: string;
}

const schedulable = [
  "sync",
  "backup run",
  "backup create",
  "export create",
  "snapshot create",
  "snapshot publish",
];

/** Not the table of all commands: that one leads to `schedule`, and so back to this file. */
const modules: Readonly<Record<string, () => Promise<{ configure(command: Command, io: Io): void }>>> = {
  sync: () => import("./commands/mirror/sync.ts"),
  backup: () => import("./commands/backup/backup.ts"),
  export: () => import("./commands/data/export.ts"),
  snapshot: () => import("./commands/snapshot/snapshot.ts"),
};

/**
 * @param args the command and its options
 * @param folder the folder that their relative paths start from
 * @param io its environment is the one of the future runs
 * @throws CliError, AccountError
 */
export async function readScheduledCommand(
  args: readonly string[],
  folder: string,
  io: Io,
): Promise<ScheduledCommand> {
  refuseSecrets(args);
  refuseLineBreaks(args);
  const leaf = await parseCommand(args, io);
  const name = leaf.parent?.parent ? `${leaf.parent.name()} ${leaf.name()}` : leaf.name();
  if (!schedulable.includes(name)) throw notSchedulable();
  const settings = readSettings(leaf, io, folder);
  const flags = leaf.opts<ScheduledFlags>();
  checkFlags(name, leaf, flags, settings, io);
  const { to } = flags;
  // Each is replaced inside the folder above it.
  const replaced = [flags.out, flags.metricsFile].filter((path) => path !== undefined);
  const mirror = mirrorOf(settings, name);
  return {
    mirror: mirror ?? "catalogue",
    writes: outermost([
      settings.dataDir.value,
      ...(mirror === null ? [] : [dirname(mirror)]),
      // A backup may be a file.
      ...(to === undefined ? [] : [isArchive(to) ? dirname(resolve(folder, to)) : resolve(folder, to)]),
      ...replaced.map((path) => dirname(resolve(folder, path))),
    ]),
  };
}

/** The checks that the command itself makes before it starts. @throws CliError */
function checkFlags(name: string, leaf: Command, flags: ScheduledFlags, settings: Settings, io: Io): void {
  if (flags.redis !== undefined) readRedisAddress(flags, io);
  if (name === "backup run") requireAccountToBackUp(settings);
  if (name.startsWith("snapshot ")) requireLicense(flags, settings);
  if (name !== "sync") return;
  requireAccountFor(flags, settings);
  scopeOptionsFor(settings.account, leaf);
  if (settings.baseUrl.value !== null) return;
  throw new CliError(
    "usage",
    "The sync to schedule has no base URL. Nothing was scheduled.",
    "Give --base-url URL after `sync`, or set ARMOIRE_BASE_URL.",
  );
}

/** @returns the command that would run, with its options parsed @throws CliError */
async function parseCommand([name = "", ...rest]: readonly string[], io: Io): Promise<Command> {
  const load = modules[name];
  if (load === undefined) throw notSchedulable();
  const program = addGlobalOptions(new Command("armoire"))
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} });
  const command = refuseEmptyValues(program).command(name);
  (await load()).configure(command, io);
  [command, ...command.commands].forEach(addGlobalOptions);
  let parsed: Command | null = null;
  for (const leaf of command.commands.length === 0 ? [command] : command.commands) {
    leaf.action(() => {
      parsed = leaf;
    });
  }
  try {
    await program.parseAsync([name, ...rest], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const sub = command.commands.find((one) => one.name() === rest[0])?.name();
    const why = error.exitCode === 0 ? "it only prints help" : error.message.replace(/^error: /, "");
    throw refused([name, sub ?? []].flat().join(" "), redactTokens(why));
  }
  if (parsed === null) throw refused(name, "it has no subcommand");
  return parsed;
}

function mirrorOf(settings: Settings, name: string): string | null {
  if (name === "sync" && settings.baseUrl.value !== null) return mirrorFileToSync(settings).file;
  if (settings.mirror.value !== null) return settings.mirror.value;
  const [only, ...others] = candidateMirrorFiles(settings);
  return others.length === 0 ? (only ?? null) : null;
}

/** Leaves out folders that are inside another one of them. */
function outermost(folders: readonly string[]): string[] {
  const isInside = (folder: string, other: string) => folder !== other && folder.startsWith(`${other}${sep}`);
  return [...new Set(folders)].filter((folder) => !folders.some((other) => isInside(folder, other)));
}

function isArchive(path: string): boolean {
  return [".zip", ".age"].includes(extname(path));
}

/** @throws CliError */
function refuseLineBreaks(args: readonly string[]): void {
  if (areSingleLines([...args, process.cwd()])) return;
  throw new CliError(
    "usage",
    "The command, or the present folder, contains a line break or another control character. Nothing was scheduled.",
    "Choose other names.",
  );
}

/** A schedule is stored in a file, and each run shows it on a command line. @throws CliError, which does not quote it */
function refuseSecrets(args: readonly string[]): void {
  for (const arg of args) {
    const value = arg.replace(/^--[a-z-]+=/, "");
    const hasPassword = URL.canParse(value) && new URL(value).password !== "";
    // A path may be long and contain digits.
    if (!hasPassword && (!looksLikeToken(value) || /[/\\]/.test(value))) continue;
    throw new CliError(
      "usage",
      "The command seems to contain a secret. Nothing was scheduled.",
      "Put secrets into files that the environment names, such as ARMOIRE_APP_SECRET_FILE. Other users may have seen this one: replace it.",
    );
  }
}

function notSchedulable(): CliError {
  return new CliError(
    "usage",
    "This command cannot be scheduled.",
    "Schedule sync, export, backup, `backup create`, `snapshot create` or `snapshot publish`, with their options after --.",
  );
}

function refused(name: string, why: string): CliError {
  return new CliError(
    "usage",
    `The command to schedule is invalid: ${why.split("\n")[0]}`,
    `\`armoire ${name} --help\` explains the usage.`,
  );
}
