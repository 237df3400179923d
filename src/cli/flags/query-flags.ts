/** `-p name=value`: what a statement's parameter is given on the command line. */

import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import { InvalidArgumentError, Option } from "commander";
import type { Cell } from "../../../schema/fields.ts";
import type { ResultFormat } from "../format/result.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";

/** What commander calls for each `-p`. */
export function collectParameter(
  text: string,
  earlier: Readonly<Record<string, Cell>> = {},
): Readonly<Record<string, Cell>> {
  const [, name, value = ""] = text.match(/^([\p{L}\p{N}_]+)=(.*)$/su) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It must be name=value, as in brand=comexim.");
  if (Object.hasOwn(earlier, name)) throw new InvalidArgumentError(`There are two values for ${name}.`);
  return { ...earlier, [name]: readParameter(value) };
}

/**
 * What is a number, true, false, null or a quoted string in JSON is that, as SQLite has it; everything else is text as it
 * stands, and so is a whole number beyond SQLite's 64 bits. Quotes make text of what would be a number.
 */
export function readParameter(text: string): Cell {
  if (/^-?(0|[1-9]\d*)$/.test(text)) {
    const whole = BigInt(text);
    return BigInt.asIntN(64, whole) === whole ? whole : text;
  }
  if (text !== text.trim() || !/^["\d-]|^(true|false|null)$/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "boolean" ? BigInt(value) : (value as string | number | null);
  } catch {
    return text;
  }
}

/** SQL from a file, or from standard input where the file is called `-`. */

/** @throws CliError when it cannot be read or is not UTF-8 */
export async function readStatement(file: string): Promise<string> {
  const name = file === "-" ? "standard input" : file;
  try {
    const bytes = await buffer(file === "-" ? process.stdin : createReadStream(file));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const why = error instanceof TypeError ? "it is not UTF-8" : (error as Error).message;
    throw new CliError("usage", `No statement could be read from ${name}: ${why}.`, "", {
      cause: error,
    });
  }
}

/** `--format` of what prints rows, and what `--json` makes of it. */

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
    "usage",
    `--json and --format ${format} cannot be given together.`,
    "Leave one of them out.",
  );
}
