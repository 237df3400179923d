/** The files that the user's settings come from, which no output may replace. */
import { statSync } from "node:fs";
import type { Command } from "commander";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import type { GlobalOptions } from "./global-options.ts";
import { defaultConfigFile } from "./settings.ts";

const outputOptions = ["out", "to", "metricsFile", "heartbeat"];

/** @throws CliError if an output is the file of --config, or its default, or one that a variable names, such as ARMOIRE_TOKEN_FILE */
export function refuseReplacedSettings(command: Command, { env }: Io): void {
  const outputs = outputOptions.flatMap((name) => {
    const path: unknown = command.getOptionValue(name);
    return typeof path === "string" ? [path] : [];
  });
  if (outputs.length === 0) return;
  const sources = [
    ["--config", command.optsWithGlobals<GlobalOptions>().config ?? defaultConfigFile()] as const,
    ...Object.entries(env).filter(([name]) => /^ARMOIRE_\w+_FILE$/.test(name)),
  ];
  for (const [source, file] of sources) {
    if (!file || !outputs.some((output) => isSameFile(output, file))) continue;
    const hint = "Nothing was written. Give another name.";
    throw new CliError("usage", `The output would replace the file of ${source}.`, hint);
  }
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
