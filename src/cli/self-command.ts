/** The command line and environment that start this program again, for schedulers. */
import { realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, resolve, sep } from "node:path";
import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import type { Program } from "../schedule/run/spawn-command.ts";
import type { GlobalOptions } from "./settings/global-options.ts";
import type { Settings } from "./settings/settings.ts";
import { CliError } from "./terminal/exit-codes.ts";
import type { Io } from "./terminal/io.ts";

/** The settings of this command line that a started command inherits. */
export interface InheritedSettings {
  readonly dataDir: string;
  readonly baseUrl: string | null;
  readonly serviceName: string | null;
}

/** Only settings of the command line and of --config: a started command finds the others itself. */
export function inheritedSettings(settings: Settings, command: Command): InheritedSettings {
  const { config } = command.optsWithGlobals<GlobalOptions>();
  const explicit = ({ value, from }: Settings["baseUrl"]) =>
    from === "command line" || (config !== undefined && from === config) ? value : null;
  return {
    dataDir: settings.dataDir.value,
    baseUrl: explicit(settings.baseUrl),
    serviceName: explicit(settings.serviceName),
  };
}

/** The environment of a started command. Paths are absolute: it may run in another folder. */
export function environmentOf({ dataDir, baseUrl, serviceName }: InheritedSettings, io: Io): Io["env"] {
  const files = Object.entries(io.env).flatMap(([name, file]) =>
    /^ARMOIRE_\w+_FILE$/.test(name) && file ? [[name, resolve(file)]] : [],
  );
  return {
    ...io.env,
    ...Object.fromEntries(files),
    ARMOIRE_DATA_DIR: dataDir,
    ...(baseUrl !== null && { ARMOIRE_BASE_URL: baseUrl }),
    ...(serviceName !== null && { ARMOIRE_SERVICE_NAME: serviceName }),
  };
}

/** @param env the environment of the started command */
export function selfCommand(env: Io["env"]): Program {
  return { command: process.execPath, args: [...process.execArgv, resolve(process.argv[1] ?? "")], env };
}

/** The path of this program for schedulers that start it long after this process. @throws CliError if npx may delete it */
export function lastingPath(path: string): string {
  const isInNpxCache = (file: string) => file.split(sep).includes("_npx");
  if (!isInNpxCache(path)) return path;
  // In a clone, the cache only links to it.
  const target = realpathSync(path);
  if (!isInNpxCache(target)) return target;
  throw new CliError(
    "failed",
    `Armoire runs from npx's cache, which may be deleted: ${dirname(target)}`,
    "Install it with `npm install --global`, and repeat the command with the installed `armoire`.",
  );
}

export const userName = (): string => userInfo().username;

export const version = (): string => packageJson.version;
