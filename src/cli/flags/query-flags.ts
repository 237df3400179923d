/** Options of the commands that print rows: parameters and statements of `query`, and the output format. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CsvProfile } from "../../../exports/formats/csv.ts";
import { formatOfName } from "../../../exports/formats/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import { messageOf } from "../../platform/errors.ts";
import { readRegularFile, tooLarge } from "../../platform/files/regular-files.ts";
import { defaultLimits } from "../../query/sql/limits.ts";
import { readParameter } from "../../query/sql/parameter-texts.ts";
import type { FileFormat, ResultFormat } from "../format/data/result.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";

/** For commander: adds one `-p NAME=VALUE`. */
export function collectParameter(
  text: string,
  earlier: Readonly<Record<string, Cell>> = {},
): Readonly<Record<string, Cell>> {
  const [, name, value = ""] = text.match(/^([\p{L}\p{N}_]+)=(.*)$/su) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It must be NAME=VALUE, such as brand=comexim.");
  if (Object.hasOwn(earlier, name)) throw new InvalidArgumentError(`The parameter ${name} has two values.`);
  return { ...earlier, [name]: readParameter(value) };
}

/** @param file `-` for standard input @throws CliError when it cannot be read, is too long or is not UTF-8 */
export async function readStatement(file: string): Promise<string> {
  const name = file === "-" ? "standard input" : file;
  try {
    const bytes = file === "-" ? await readInput() : readRegularFile(file, defaultLimits.maxSqlBytes);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const why = error instanceof TypeError ? "it is not UTF-8" : messageOf(error).replace(/\.$/, "");
    throw new CliError(
      "usage",
      `No statement can be read from ${name}: ${why}.`,
      "Give a file of SQL in UTF-8; `--file -` reads a pipe.",
      { cause: error },
    );
  }
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > defaultLimits.maxSqlBytes) throw tooLarge("standard input", defaultLimits.maxSqlBytes);
  }
  return Buffer.concat(chunks);
}

const resultFormats: readonly ResultFormat[] = ["table", "csv", "json", "ndjson"];

export interface CsvFlags {
  readonly exact?: boolean;
  readonly excel?: boolean;
}

export interface FormatFlags extends CsvFlags {
  readonly format?: ResultFormat;
}

export const addFormatFlags = (command: Command): Command =>
  addCsvFlags(
    command.addOption(
      new Option("--format <format>", "the output format").choices(resultFormats).default(undefined, "table"),
    ),
  );

export const addCsvFlags = (command: Command): Command =>
  command
    .option("--exact", "in CSV, no apostrophe before text that spreadsheets run as a formula")
    .addOption(new Option("--excel", "in CSV, a byte order mark and CR LF line ends").conflicts("exact"));

export const readCsvProfile = ({ exact, excel }: CsvFlags): CsvProfile =>
  exact ? "exact" : excel ? "excel" : "guarded";

/** `--json` means the format `json`. @throws CliError when --format names another one */
export function readFormat({ format }: FormatFlags, { json }: Settings): ResultFormat {
  if (!json) return format ?? "table";
  if (format === undefined || format === "json") return "json";
  throw new CliError(
    "usage",
    `--json and --format ${format} cannot be given together.`,
    "Leave one of them out.",
  );
}

export interface AnswerFlags {
  readonly format?: FileFormat;
  readonly out?: string;
  readonly list?: boolean;
}

/** @throws CliError for a format that only a file can have */
export function readAnswerFormat({ format, out, list }: AnswerFlags, settings: Settings): FileFormat {
  if (out !== undefined && list)
    throw new CliError("usage", "--out is for the answer of a query.", "Leave out --out or --list.");
  const named = out === undefined ? null : formatOfName(out);
  if (settings.json && named !== null && named !== "json")
    throw new CliError(
      "usage",
      `--json contradicts the name ${JSON.stringify(out)}.`,
      "Leave out --json, or give a name that ends in .json.",
    );
  if (out !== undefined && format === undefined && !settings.json) {
    if (named !== null) return named;
    throw new CliError(
      "usage",
      `The name ${JSON.stringify(out)} does not say the format.`,
      "Give --format, or a name that ends in .csv, .json, .ndjson, .parquet or .sqlite.",
    );
  }
  if (format !== "parquet" && format !== "sqlite")
    return readFormat(format === undefined ? {} : { format }, settings);
  if (out !== undefined && !settings.json) return format;
  throw new CliError(
    "usage",
    `--format ${format} needs --out FILE, and no --json.`,
    "On standard output, the formats are table, csv, json and ndjson.",
  );
}
