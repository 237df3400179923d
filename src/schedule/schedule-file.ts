/** `schedules.json`: the schedules of a data directory, for its owner alone, since it says what is run in her name. */
import { z } from "zod";
import { readPrivateFile, writePrivateFile } from "../accounts/private-file.ts";
import { type Schedule, schedulePlace } from "./schedule.ts";
import { ScheduleError } from "./schedule-error.ts";

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
  const text = readPrivateFile(schedulesFile, { followsLinks: false, mostBytes });
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
