/**
 * The settings of a command, each with its source: flags beat the environment, the environment beats the config file, and
 * that beats defaults. A secret is never a flag, and never shown.
 */
import { join, resolve } from "node:path";
import type { Command } from "commander";
import envPaths from "env-paths";
import type { Publication } from "../../../exports/package/descriptor.ts";
import type { Account } from "../../accounts/account.ts";
import { looksLikeToken } from "../../accounts/account-name.ts";
import { readAccount } from "../../accounts/accounts.ts";
import { isServiceName } from "../../mirror/file/meta.ts";
import { FileError } from "../../platform/errors.ts";
import { requireRegularFile } from "../../platform/files/regular-files.ts";
import { ServiceSettingsError } from "../../service/errors.ts";
import { readOriginOrThrow } from "../../service/same-origin.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { type ConfigValues, readConfigFile } from "./config-file.ts";
import type { GlobalOptions } from "./global-options.ts";

export interface Setting<Value extends string | null = string | null> {
  readonly value: Value;
  readonly from: string;
}

export interface Settings {
  readonly dataDir: Setting<string>;
  readonly baseUrl: Setting;
  readonly serviceName: Setting;
  readonly mirror: Setting;
  /** Null for the catalogue's mirror, or for the one that `mirror` names. */
  readonly account: Account | null;
  /** What the config file says about published data; flags of a command beat it. */
  readonly publication: Publication;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

/**
 * @param folder the folder that relative paths start from; default: the current one
 * @throws CliError for an invalid setting, AccountError for an unknown or unreadable account
 */
export function readSettings(command: Command, io: Io, folder = ""): Settings {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { configured, pick } = readSources(options, io, folder);
  const dataDir = dataDirFrom(pick, folder);
  return {
    dataDir,
    ...(options.account === undefined
      ? {
          baseUrl: checkBaseUrl(pick("baseUrl", "ARMOIRE_BASE_URL", null)),
          serviceName: checkServiceName(pick("serviceName", "ARMOIRE_SERVICE_NAME", "service")),
          mirror:
            options.mirror === undefined
              ? { value: null, from: "not set" }
              : { value: resolve(folder, options.mirror), from: "command line" },
          account: null,
        }
      : settingsOfAccount(dataDir.value, options.account, options)),
    publication: publicationIn(configured),
    json: options.json ?? false,
    quiet: options.quiet ?? false,
    verbose: options.verbose ?? false,
  };
}

/** The data directory alone. @throws CliError */
export function readDataDir(command: Command, io: Io): Setting<string> {
  return dataDirFrom(readSources(command.optsWithGlobals<GlobalOptions>(), io, "").pick, "");
}

function dataDirFrom(pick: PickSetting, folder: string): Setting<string> {
  const picked = pick("dataDir", "ARMOIRE_DATA_DIR", userFolders().data);
  return { ...picked, value: resolve(folder, requireFolderName(picked)) };
}

/** @returns the value of a setting, from the first source that has one */
type PickSetting = (
  name: "dataDir" | "baseUrl" | "serviceName",
  variable: string,
  fallback: string | null,
) => Setting;

function readSources(
  options: GlobalOptions,
  io: Io,
  folder: string,
): { readonly configured: ConfigValues; readonly pick: PickSetting } {
  const given = options.config;
  const config = given === undefined ? defaultConfigFile() : inFolder(folder, given);
  const configured: ConfigValues =
    given === undefined && !hasConfigFile(config) ? {} : readConfigFile(config);
  const pick: PickSetting = (name, variable, fallback) => {
    const flag = options[name];
    if (flag !== undefined) return { value: flag, from: "command line" };
    const fromEnv = io.env[variable];
    if (fromEnv !== undefined && fromEnv !== "") return { value: fromEnv, from: variable };
    const fromFile = configured[name];
    if (fromFile !== undefined) return { value: fromFile, from: config };
    return { value: fallback, from: fallback === null ? "not set" : "default" };
  };
  return { configured, pick };
}

const userFolders = () => envPaths("armoire", { suffix: "" });

/** Read without --config, if it exists. */
export const defaultConfigFile = (): string => join(userFolders().config, "config.json");

/** The path as it is, if there is no other folder, so that messages show it as it was given. */
const inFolder = (folder: string, path: string) => (folder === "" ? path : resolve(folder, path));

/** @throws FileError if something other than a regular file is in its place */
function hasConfigFile(file: string): boolean {
  try {
    return requireRegularFile(file);
  } catch (error) {
    if (error instanceof FileError) throw error;
    // The folder is not there, or another user's.
    return false;
  }
}

function publicationIn({ license, citation }: ConfigValues): Publication {
  return { ...(license !== undefined && { license }), ...(citation !== undefined && { citation }) };
}

/** The service name, unless it is only the default: an existing mirror has its own. */
export function givenServiceName({ serviceName: { value, from } }: Settings): { serviceName?: string } {
  return value === null || from === "default" ? {} : { serviceName: value };
}

/** An account has its own mirror and service, so the flags for them are refused. */
function settingsOfAccount(
  dataDir: string,
  name: string,
  { baseUrl, serviceName, mirror }: GlobalOptions,
): Pick<Settings, "baseUrl" | "serviceName" | "mirror" | "account"> {
  const [conflicting] = Object.entries({
    "--mirror": mirror,
    "--base-url": baseUrl,
    "--service-name": serviceName,
  })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag);
  if (conflicting !== undefined) {
    throw new CliError(
      "usage",
      `--account and ${conflicting} cannot be given together.`,
      `An account has its own mirror and service: leave ${conflicting} out.`,
    );
  }
  const account = readAccount(dataDir, name);
  const from = `account ${name}`;
  return {
    account,
    baseUrl: { value: account.baseUrl, from },
    serviceName: { value: account.serviceName, from },
    mirror: { value: account.mirrorFile, from },
  };
}

/** An empty name would silently mean the current folder. */
function requireFolderName({ value, from }: Setting): string {
  if (value) return value;
  throw new CliError(
    "usage",
    `The data directory (${from}) is empty.`,
    "Name a folder, or remove the setting.",
  );
}

function checkBaseUrl(setting: Setting): Setting {
  if (setting.value === null) return setting;
  try {
    readOriginOrThrow(setting.value, `The base URL (${setting.from})`);
  } catch (error) {
    if (!(error instanceof ServiceSettingsError)) throw error;
    throw new CliError("usage", error.message, error.hint, { cause: error });
  }
  return { ...setting, value: new URL(setting.value).href };
}

function checkServiceName(setting: Setting): Setting {
  if (setting.value !== null && looksLikeToken(setting.value))
    throw new CliError(
      "usage",
      `The service name (${setting.from}) looks like a token, so it is not shown here.`,
      "It is the part before _url in the service's field names. If it was a token, others may have read it: get a new one.",
    );
  if (setting.value !== null && isServiceName(setting.value)) return setting;
  throw new CliError(
    "usage",
    `The service name (${setting.from}) is not a word of letters, digits and underscores.`,
    "It is the part before _url in the service's field names.",
  );
}
