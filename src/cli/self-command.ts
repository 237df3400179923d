/** This very program, for starting it again: by itself, or by the system's own scheduler. */

import { userInfo } from "node:os";
import { resolve } from "node:path";
import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import type { Program } from "../schedule/run/spawn-command.ts";
import type { GlobalOptions } from "./settings/global-options.ts";
import type { Settings } from "./settings/settings.ts";
import type { Io } from "./terminal/io.ts";

/** The settings that were said on this command line, for commands that are started by it. */
export interface HandedOn {
  readonly dataDir: string;
  readonly baseUrl: string | null;
  readonly serviceName: string | null;
}

/** Others that are started find the rest where this one did: in their environment and the usual file. */
export function handedOn(settings: Settings, command: Command): HandedOn {
  const { config } = command.optsWithGlobals<GlobalOptions>();
  const said = ({ value, from }: Settings["baseUrl"]) =>
    from === "command line" || (config !== undefined && from === config) ? value : null;
  return {
    dataDir: settings.dataDir.value,
    baseUrl: said(settings.baseUrl),
    serviceName: said(settings.serviceName),
  };
}

/** The environment of a command that is started, perhaps in another folder. */
export function environmentOf({ dataDir, baseUrl, serviceName }: HandedOn, io: Io): Io["env"] {
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

/** @param env for what is started */
export function selfCommand(env: Io["env"]): Program {
  return { command: process.execPath, args: [...process.execArgv, resolve(process.argv[1] ?? "")], env };
}

export const userName = (): string => userInfo().username;

export const version = (): string => packageJson.version;
