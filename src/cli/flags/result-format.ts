/** `--format` of what prints rows, and what `--json` makes of it. */
import { Option } from "commander";
import type { ResultFormat } from "../describe/print-result.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError, exitCodes } from "../terminal/exit-codes.ts";

const resultFormats: readonly ResultFormat[] = ["table", "csv", "json", "ndjson"];

export interface FormatFlags {
  readonly format?: ResultFormat;
}

export const formatOption = (about = "how to print it") =>
  new Option("--format <format>", about).choices(resultFormats);

/** Every command knows `--json` as well. @throws CliError where the two say different things */
export function readFormat({ format }: FormatFlags, { json }: Settings): ResultFormat {
  if (!json) return format ?? "table";
  if (format === undefined || format === "json") return "json";
  throw new CliError(
    exitCodes.usage,
    `--json and --format ${format} cannot be given together.`,
    "Leave one of them out.",
  );
}
