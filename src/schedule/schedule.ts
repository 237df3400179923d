/** A schedule: when a command of this program is to run, again and again. */
import { join } from "node:path";
import { z } from "zod";
import { readPrivateFile, writePrivateFile } from "../platform/private-files.ts";
import { ScheduleError } from "./errors.ts";

export interface Schedule {
  readonly name: string;
  /** Five fields, or six that begin with seconds. */
  readonly cron: string;
  /** The zone that it is meant in, as IANA calls it. */
  readonly tz: string;
  /** Within which a run begins after its time; 0 for at its time. */
  readonly jitterMillis: number;
  /** How long after its time a run begins: drawn once, so that it is the same every day. */
  readonly delayMillis: number;
  /** The command and its options, without the program. */
  readonly args: readonly string[];
  /** The folder that relative paths in `args` are meant in. */
  readonly folder: string;
  /** What the runs are of: no two of one mirror run at a time. */
  readonly mirror: string;
  /** ISO 8601, UTC. */
  readonly addedAt: string;
}

/** The files of schedules in a data directory. */
export interface SchedulePlace {
  readonly schedulesFile: string;
  readonly runsFolder: string;
  /** Locked while the schedules are changed. */
  readonly changeLock: string;
  /** Locked while one process alone begins the runs. */
  readonly runLock: string;
}

export function schedulePlace(dataDir: string): SchedulePlace {
  return {
    schedulesFile: join(dataDir, "schedules.json"),
    runsFolder: join(dataDir, "schedule-runs"),
    changeLock: join(dataDir, "schedules"),
    runLock: join(dataDir, "schedule-run"),
  };
}

/** `schedules.json`: the schedules of a data directory, for its owner alone, since it says what is run in her name. */

const version = 1;
/** Some thousands of schedules. */
const mostBytes = 1_048_576;

const schedule = z.strictObject({
  name: z.string(),
  cron: z.string(),
  tz: z.string(),
  jitterMillis: z.int().nonnegative(),
  delayMillis: z.int().nonnegative(),
  args: z.array(z.string()).min(1).readonly(),
  folder: z.string(),
  mirror: z.string(),
  addedAt: z.iso.datetime(),
});

const content = z.strictObject({
  version: z.literal(version),
  id: z.uuid(),
  schedules: z.array(schedule).readonly(),
});

export interface ScheduleBook {
  /** Of this data directory alone: what processes that share its runs find each other by. */
  readonly id: string;
  /** In the order of their names. */
  readonly schedules: readonly Schedule[];
}

/**
 * @returns null where there is no such file
 * @throws ScheduleError `damaged`, `newer`; AccountError `unsafe`, `unwritable`
 */
export function readScheduleFile(dataDir: string): ScheduleBook | null {
  const { schedulesFile } = schedulePlace(dataDir);
  const text = readPrivateFile(schedulesFile, { followsLinks: false, maxBytes: mostBytes });
  if (text === null) return null;
  const value = parse(text);
  const checked = content.safeParse(value);
  if (checked.success) return { id: checked.data.id, schedules: checked.data.schedules };
  if (z.object({ version: z.number().gt(version) }).safeParse(value).success) {
    throw new ScheduleError(
      "newer",
      `The schedules are of a later version: ${schedulesFile}`,
      "Install a newer Armoire. The file was not touched.",
    );
  }
  throw new ScheduleError(
    "damaged",
    `The file of the schedules is damaged: ${schedulesFile}`,
    "Correct it, or move it away and add the schedules anew with `armoire schedule add`.",
  );
}

/** @throws ScheduleError `too-many`; AccountError `unwritable` */
export function writeScheduleFile(dataDir: string, { id, schedules }: ScheduleBook): void {
  const text = `${JSON.stringify({ version, id, schedules }, null, 2)}\n`;
  if (Buffer.byteLength(text) >= mostBytes)
    throw new ScheduleError(
      "too-many",
      "There are too many schedules in this data directory.",
      "Remove some with `armoire schedule remove NAME`, or use another --data-dir.",
    );
  writePrivateFile(schedulePlace(dataDir).schedulesFile, text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
