/** A schedule, which repeats a command of this program, and the file `schedules.json` with all of them. */
import { join } from "node:path";
import { z } from "zod";
import { readPrivateFile, writePrivateFile } from "../platform/private-files.ts";
import { ScheduleError } from "./errors.ts";

/** A command that runs at set times. */
export interface Schedule {
  /** Unique in the data directory: a-z, 0-9, _ and -. */
  readonly name: string;
  /** Five fields, or six that begin with seconds. */
  readonly cron: string;
  /** The time zone of `cron`, an IANA name. */
  readonly tz: string;
  /** The maximum of `delayMillis`. */
  readonly jitterMillis: number;
  /** How long after its due time a run starts: drawn once, so that it is the same every day. */
  readonly delayMillis: number;
  /** The command and its options, without the program. */
  readonly args: readonly string[];
  /** The folder that relative paths in `args` refer to. */
  readonly folder: string;
  /** The mirror that the runs write: at most one run of a mirror is active at a time. */
  readonly mirror: string;
  /** ISO 8601, UTC. */
  readonly addedAt: string;
}

export interface ScheduleFile {
  /** Identifies the data directory, for schedulers that share its runs through Redis. */
  readonly id: string;
  /** Sorted by name. */
  readonly schedules: readonly Schedule[];
}

const version = 1;
/** Enough for thousands of schedules. */
const maxBytes = 1_048_576;

/** Of one line, since it becomes a part of units and crontabs. */
const singleLine = /^\P{Cc}*$/u;

/** Made when there is a file to read: zod takes 10 MiB. */
function contentShape() {
  const word = z.string().regex(singleLine);
  const schedule = z.strictObject({
    name: z.string(),
    cron: z.string(),
    tz: z.string(),
    jitterMillis: z.int().nonnegative(),
    delayMillis: z.int().nonnegative(),
    args: z.array(word).min(1).readonly(),
    folder: word,
    mirror: z.string(),
    addedAt: z.iso.datetime(),
  });
  return z.strictObject({
    version: z.literal(version),
    id: z.uuid(),
    schedules: z.array(schedule).readonly(),
  });
}

/** Whether each of these can stand in a schedule: without line breaks and other control characters. */
export const areSingleLines = (texts: readonly string[]): boolean =>
  texts.every((text) => singleLine.test(text));

/**
 * @returns null without a file
 * @throws ScheduleError `damaged`, `newer`; FileError `unsafe`, `unwritable`
 */
export function readScheduleFile(dataDir: string): ScheduleFile | null {
  const { schedulesFile } = schedulePaths(dataDir);
  const text = readPrivateFile(schedulesFile, { followsLinks: false, maxBytes });
  if (text === null) return null;
  const value = parseJson(text);
  const checked = contentShape().safeParse(value);
  if (checked.success) return { id: checked.data.id, schedules: checked.data.schedules };
  if (z.object({ version: z.number().gt(version) }).safeParse(value).success) {
    throw new ScheduleError(
      "newer",
      `The schedules are from a newer version of Armoire: ${schedulesFile}`,
      "Install a newer Armoire. The file was not changed.",
    );
  }
  throw new ScheduleError(
    "damaged",
    `The file of the schedules is damaged: ${schedulesFile}`,
    "Correct it, or move it away and add the schedules again with `armoire schedule add`.",
  );
}

/**
 * Only the owner can read or change the file, since its commands run as the owner.
 * @throws ScheduleError `too-many`; FileError
 */
export function writeScheduleFile(dataDir: string, { id, schedules }: ScheduleFile): void {
  const text = `${JSON.stringify({ version, id, schedules }, null, 2)}\n`;
  if (Buffer.byteLength(text) >= maxBytes)
    throw new ScheduleError(
      "too-many",
      "There are too many schedules in this data directory.",
      "Remove some with `armoire schedule remove NAME`, or use another --data-dir.",
    );
  writePrivateFile(schedulePaths(dataDir).schedulesFile, text);
}

/** The files of schedules in a data directory. */
export interface SchedulePaths {
  readonly schedulesFile: string;
  readonly runsFolder: string;
  /** Held while the schedules are changed. */
  readonly changeLock: string;
  /** Held by the schedulers that start the runs. */
  readonly runLock: string;
}

export function schedulePaths(dataDir: string): SchedulePaths {
  return {
    schedulesFile: join(dataDir, "schedules.json"),
    runsFolder: join(dataDir, "schedule-runs"),
    changeLock: join(dataDir, "schedules"),
    runLock: join(dataDir, "schedule-run"),
  };
}

/** @returns null for invalid JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
