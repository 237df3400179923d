/** Writes the change log in one of its formats. */
import { toJson } from "../../../exports/formats/json.ts";
import { describeMissing } from "../../mirror/runs/describe-coverage.ts";
import { requireNumbersFrom } from "../../platform/errors.ts";
import { utcMinute } from "../../presentation/times.ts";
import type { ChangeEntry, ChangeLog } from "./change-log.ts";
import { describeTotals, linesOf, titleOf } from "./describe-entry.ts";
import { atomFeed, type FeedOptions, jsonFeed, titleOfLog } from "./feed.ts";

export const logFormats = ["markdown", "atom", "jsonfeed", "ndjson"] as const;

export type LogFormat = (typeof logFormats)[number];

export interface LogOptions extends FeedOptions {
  /** At most this many entries, or for NDJSON changes. Default: 100, and all changes. */
  readonly limit?: number;
}

const defaultLimit = 100;

/**
 * Writes a log of changes in a format.
 * @returns the text, part after part, read from the log meanwhile
 * @throws RangeError for a limit that is no number; MirrorError
 */
export function* changeLogText(
  log: ChangeLog,
  format: LogFormat,
  options: LogOptions = {},
): Generator<string> {
  requireNumbersFrom(0, { limit: options.limit });
  const { limit = defaultLimit } = options;
  switch (format) {
    case "markdown":
      return yield* markdown(log, take(log.entries(), limit));
    case "ndjson":
      return yield* take(ndjsonLines(log), options.limit ?? Number.POSITIVE_INFINITY);
    case "atom":
      return yield atomFeed(log, [...take(log.entries(), limit)], options);
    case "jsonfeed":
      return yield jsonFeed(log, [...take(log.entries(), limit)], options);
  }
}

function* take<Item>(items: Iterable<Item>, limit: number): Generator<Item> {
  let taken = 0;
  for (const item of items) {
    if (++taken > limit) return;
    yield item;
  }
}

/** Each change with its run, and whether the mirror is complete. */
function* ndjsonLines({ runs, coverage: { complete } }: ChangeLog): Generator<string> {
  for (const { run, endedAt, changes } of runs())
    for (const change of changes) yield `${toJson({ run, endedAt, complete, ...change })}\n`;
}

function* markdown(log: ChangeLog, entries: Iterable<ChangeEntry>): Generator<string> {
  yield `# ${escapeMarkdown(titleOfLog(log))}\n`;
  const missing = describeMissing(log.coverage);
  if (missing !== null) yield `\n${escapeMarkdown(missing)}\n`;
  let run: number | null = null;
  for (const entry of entries) {
    if (entry.run !== run) yield `\n## Run ${entry.run}, ${utcMinute(entry.endedAt)}\n\n`;
    run = entry.run;
    const title = entry.subject === null ? describeTotals(entry.totals) : titleOf(entry);
    const { subject } = entry;
    const shown = !subject || subject.key === null ? "" : ` (${subject.kind} ${subject.key})`;
    yield `- ${escapeMarkdown(title + shown)}\n`;
    for (const line of linesOf(entry)) yield `  - ${escapeMarkdown(line)}\n`;
  }
  if (run === null) yield "\nNo changes.\n";
}

/** Characters that control a terminal or turn text around. */
const controls = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Text on one line, without markup. */
function escapeMarkdown(text: string): string {
  const line = text.replace(/\s+/gu, " ").replace(controls, "").trim();
  return line
    .replace(/[\\`*[\]<>~|]|&(?=#?\w+;)|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&")
    .replace(/^[#+-]/, "\\$&")
    .replace(/^(\d+)([.)])/, "$1\\$2");
}
