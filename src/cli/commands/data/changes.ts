/** `armoire changes`: what the latest runs found, as a report for people, a feed or data. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { extname, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type ChangeLog, openChangeLog } from "../../../change/log/change-log.ts";
import {
  changeLogText,
  type LogFormat,
  type LogOptions,
  logFormats,
} from "../../../change/log/log-formats.ts";
import { toMirrorError } from "../../../mirror/file/errors.ts";
import { parsePoint, pointContext } from "../../../mirror/points/point.ts";
import { describePruned } from "../../../mirror/points/pruned-runs.ts";
import { fileMode, writeOutput } from "../../../platform/atomic-file.ts";
import { toFileError } from "../../../platform/errors.ts";
import { requireReplaceable } from "../../../platform/files/replaceable-files.ts";
import { addChangeFilterFlags, type ChangeFilterFlags, changeFilterOf } from "../../flags/change-flags.ts";
import { positiveNumber } from "../../flags/option-values.ts";
import { printGaps } from "../../format/data/result.ts";
import { mirrorFileToRead } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";
import { escapeLines } from "../../terminal/safe-text.ts";

interface ChangesFlags extends ChangeFilterFlags {
  readonly format?: LogFormat;
  readonly out?: string;
  readonly since?: string;
  readonly limit?: number;
  readonly url?: string;
}

export function configure(command: Command, io: Io): void {
  command
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(logFormats)
        .default(undefined, "markdown, or the ending of --out"),
    )
    .option("--out <file>", "write to a file; an earlier file is replaced")
    .option("--since <point>", "only the runs after a run or a time")
    .addOption(
      new Option("--limit <n>", "at most N entries, newest first")
        .argParser(positiveNumber)
        .default(undefined, "100; all changes with ndjson"),
    );
  addChangeFilterFlags(command).option("--url <url>", "the address where you will publish the feed");
  addHelp(command, {
    details: [
      "Lists what each run changed, newest run first. An entry is a brand, a model with its sizes, a user, a bra or " +
        "a measurement. A run with more than 100 entries, such as a first sync, is one entry with the number of its changes. " +
        "Each entry has an id that stays the same until its run is pruned, so that feed readers show it once. Entries leave out changes of " +
        "last_modified_at alone.",
      "markdown is a report for people, atom and jsonfeed are feeds, and ndjson has one line for each changed resource. Files of " +
        "accounts are readable by you only. The ending of --out says the format: .md, .atom, .xml, .json or .ndjson. If nothing changed, the file " +
        "is not written again, except as NDJSON.",
      "`armoire diff` compares any two states. `armoire sync --on-change` runs a command with the changes of its run.",
    ],
    examples: [
      "armoire changes",
      "armoire changes --since latest-1",
      "armoire changes --since -7d --brand comexim",
      "armoire changes --out changes.atom --url https://example.org/changes.atom",
      "armoire changes --format ndjson --since 12 > changes.ndjson",
      "armoire changes --account ada --out changes.md",
    ],
    exitCodes: [...exitCodesOfReading, "interrupted", "terminated"],
  });
  command.action(async (flags: ChangesFlags) => {
    const settings = readSettings(command, io);
    const format = readLogFormat(flags, settings);
    const { since, limit, url, out } = flags;
    requireUrl(url);
    const file = mirrorFileToRead(settings);
    const log = openChangeLog({
      mirror: file,
      ...changeFilterOf(flags),
      ...(since !== undefined && { since: parsePoint(since, pointContext()) }),
    });
    const options = { ...(limit !== undefined && { limit }), ...(url !== undefined && { url }) };
    try {
      if (!settings.quiet) warnOfPrunedRuns(log, io);
      if (out === undefined) await print(log, format, options, io);
      else {
        const isWritten = await write(log, format, options, out, io);
        if (settings.json) io.out(toJsonLine({ file: resolve(out), format, isUnchanged: !isWritten }));
        else if (!settings.quiet)
          printText(io, isWritten ? `Written to ${out}\n` : `Unchanged: ${out} has these changes already\n`);
      }
      printGaps(log.coverage, settings, io);
    } catch (error) {
      throw toMirrorError(error, file);
    } finally {
      log.close();
    }
  });
}

function warnOfPrunedRuns({ baseline, prunedRuns }: ChangeLog, io: Io): void {
  if (baseline !== null)
    io.err(`All runs before run ${baseline.run} were pruned: only changes after it are listed.\n`);
  if (prunedRuns > 0)
    io.err(`${describePruned(prunedRuns, "the next run that is left lists what they changed")}\n`);
}

const formatOfEnding: Readonly<Record<string, LogFormat>> = {
  ".md": "markdown",
  ".atom": "atom",
  ".xml": "atom",
  ".json": "jsonfeed",
  ".ndjson": "ndjson",
};

/** @throws CliError */
function readLogFormat({ format, out }: ChangesFlags, { json }: Settings): LogFormat {
  if (out === undefined) {
    if (!json) return format ?? "markdown";
    if (format === undefined || format === "jsonfeed") return "jsonfeed";
    throw new CliError(
      "usage",
      `--json and --format ${format} cannot be given together.`,
      "Leave one of them out.",
    );
  }
  if (format !== undefined) return format;
  const named = formatOfEnding[extname(out).toLowerCase()];
  if (named !== undefined) return named;
  throw new CliError(
    "usage",
    `The name ${JSON.stringify(out)} does not say the format.`,
    `Give --format, or a name that ends in ${Object.keys(formatOfEnding).join(", ")}.`,
  );
}

/** @throws CliError */
function requireUrl(url: string | undefined): void {
  if (url === undefined || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) return;
  throw new CliError(
    "usage",
    "--url must be an http or https address.",
    "For example: https://example.org/changes.atom",
  );
}

async function print(log: ChangeLog, format: LogFormat, options: LogOptions, io: Io): Promise<void> {
  const text = safeText(log, format, options);
  if (format === "markdown") await printText(io, [...text].join(""));
  else
    for (const part of text) {
      await io.out(part);
      if (!io.hasReader()) return;
    }
}

/** @returns false if the file had the same content before @throws ExportError, FileError, the signal's reason */
async function write(
  log: ChangeLog,
  format: LogFormat,
  options: LogOptions,
  file: string,
  io: Io,
): Promise<boolean> {
  const signal = interruptSignal(io, "the file was not written");
  const path = resolve(file);
  try {
    requireReplaceable(path);
    const text = safeText(log, format, options);
    const isPrivate = log.identity.area === "account";
    if (format === "ndjson") {
      await writeOutput(path, text, { signal, isPrivate });
      return true;
    }
    const content = Buffer.from([...text].join(""));
    if (
      existsSync(path) &&
      (statSync(path).mode & ~fileMode(isPrivate) & 0o777) === 0 &&
      readFileSync(path).equals(content)
    )
      return false;
    await writeOutput(path, [content], { signal, isPrivate });
    return true;
  } catch (error) {
    throw toFileError(error, file);
  }
}

/** In JSON, characters that are unsafe on a terminal are escaped. */
function* safeText(log: ChangeLog, format: LogFormat, options: LogOptions): Generator<string> {
  const isJson = format === "jsonfeed" || format === "ndjson";
  for (const text of changeLogText(log, format, options)) yield isJson ? escapeLines(text) : text;
}
