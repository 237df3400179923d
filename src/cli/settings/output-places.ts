/** Places that no output may take: the files of the user's settings, and Armoire's own folders in the data directory. */
import { statSync } from "node:fs";
import type { Command } from "commander";
import { requireOutsideOwnFolders } from "../../platform/files/replaceable-files.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import type { GlobalOptions } from "./global-options.ts";
import { defaultConfigFile, readDataDir } from "./settings.ts";

const outputOptions = ["out", "to", "metricsFile", "heartbeat"];
/** Options that name files with secrets. */
export const secretFileOptions = ["passphraseFile", "tokenFile", "sign", "principals"];

/**
 * @throws CliError if an output is the file of --config, or its default, or one that another option or a variable names, such as
 * --file, --passphrase-file or ARMOIRE_TOKEN_FILE; FileError `not-replaceable` in an own folder
 */
export function checkOutputPlaces(command: Command, io: Io): void {
  const named = outputOptions
    .map((name): unknown => command.getOptionValue(name))
    .filter((path) => typeof path === "string");
  const signatures = command.getOptionValue("sign") === undefined ? [] : named.map((path) => `${path}.sig`);
  // `snapshot key` alone makes a file that is no option's value.
  const created = command.getOptionValue("create") === true ? command.args : [];
  const outputs = [...named, ...signatures, ...created];
  if (outputs.length === 0) return;
  const sources = [
    ["--config", command.optsWithGlobals<GlobalOptions>().config ?? defaultConfigFile()] as const,
    ...command.options
      .filter((option) => [...secretFileOptions, "file"].includes(option.attributeName()))
      .map((option) => [option.long, command.getOptionValue(option.attributeName())] as const),
    ...Object.entries(io.env).filter(([name]) => /^(ARMOIRE_\w+_FILE|NODE_EXTRA_CA_CERTS)$/.test(name)),
  ];
  for (const [source, file] of sources) {
    if (typeof file !== "string" || file === "" || !outputs.some((output) => isSameFile(output, file)))
      continue;
    const hint = "Nothing was written. Give another name.";
    throw new CliError("usage", `The output would replace the file of ${source}.`, hint);
  }
  const { value: dataDir } = readDataDir(command, io);
  for (const output of outputs) requireOutsideOwnFolders(output, dataDir);
}

function isSameFile(one: string, other: string): boolean {
  try {
    const [a, b] = [statSync(one), statSync(other)];
    return a.dev === b.dev && a.ino === b.ino;
  } catch {
    // One of them does not exist.
    return false;
  }
}
