/**
 * The last runs of each schedule, in `schedule-runs/NAME.json`: times, numbers and one line of error text; never a
 * secret.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { toFileError } from "../platform/errors.ts";
import { makeFolders } from "../platform/folders.ts";
import { readPrivateFile, writePrivateFile } from "../platform/private-files.ts";
import { parseJson, schedulePaths } from "./schedule.ts";

/** For each schedule. */
export const maxRuns = 20;

const version = 1;

// Shapes are made when there is a file to read: zod takes 10 MiB.
const runShape = () =>
  z.strictObject({
    /** The latest due time that the run covers. ISO 8601, UTC, like all times here. */
    due: z.iso.datetime(),
    startedAt: z.iso.datetime(),
    /** The process that started it. */
    scheduler: z.strictObject({ pid: z.int(), host: z.string(), startedAt: z.iso.datetime() }).readonly(),
    /** How often the command was started: again each time the mirror was locked. */
    attempts: z.int().positive(),
    /** Null while it runs, and for good if its scheduler died. */
    endedAt: z.iso.datetime().nullable(),
    /** Null also if a signal ended it or it could not be started. */
    exitCode: z.int().nullable(),
    seconds: z.number().nullable(),
    /** The numbers of its report, by name. */
    counts: z.record(z.string(), z.number()).nullable(),
    /** Its error message, in one line. */
    error: z.string().nullable(),
  });

const contentShape = () =>
  z.strictObject({ version: z.literal(version), runs: z.array(runShape()).readonly() });

export type ScheduledRun = Readonly<z.infer<ReturnType<typeof runShape>>>;
/** The process that starts runs. */
export type Scheduler = ScheduledRun["scheduler"];

/**
 * The last runs of a schedule, oldest first. A missing or unreadable file has no runs: a damaged history must not stop the
 * schedule.
 * @throws FileError
 */
export function readRuns(dataDir: string, name: string): readonly ScheduledRun[] {
  const text = readPrivateFile(fileOf(dataDir, name), { followsLinks: false });
  if (text === null) return [];
  const parsed = contentShape().safeParse(parseJson(text));
  return parsed.success ? parsed.data.runs : [];
}

/** Adds the run, or replaces its earlier state. Durable on return. @throws FileError */
export function recordRun(dataDir: string, name: string, recorded: ScheduledRun): void {
  const { runsFolder } = schedulePaths(dataDir);
  try {
    makeFolders(runsFolder);
  } catch (error) {
    throw toFileError(error, runsFolder);
  }
  const others = readRuns(dataDir, name).filter((other) => !isSameRun(other, recorded));
  const runs = [...others, recorded].slice(-maxRuns);
  writePrivateFile(fileOf(dataDir, name), `${JSON.stringify({ version, runs }, null, 2)}\n`);
}

/** @throws FileError */
export function removeRunHistory(dataDir: string, name: string): void {
  const file = fileOf(dataDir, name);
  try {
    rmSync(file, { force: true });
  } catch (error) {
    throw toFileError(error, file);
  }
}

export function isSameScheduler(a: Scheduler, b: Scheduler): boolean {
  return a.pid === b.pid && a.host === b.host && a.startedAt === b.startedAt;
}

function isSameRun(a: ScheduledRun, b: ScheduledRun): boolean {
  return a.startedAt === b.startedAt && a.due === b.due && isSameScheduler(a.scheduler, b.scheduler);
}

const fileOf = (dataDir: string, name: string): string =>
  join(schedulePaths(dataDir).runsFolder, `${name}.json`);
