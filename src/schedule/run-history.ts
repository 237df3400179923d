/** `schedule-runs/NAME.json`: what became of the last runs of a schedule. What is kept are times, numbers and one line; never a secret. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { toFileError } from "../platform/errors.ts";
import { makeFolders } from "../platform/folders.ts";
import { readPrivateFile, writePrivateFile } from "../platform/private-files.ts";
import { schedulePlace } from "./schedule.ts";

const version = 1;
/** Of each schedule. */
export const maxKeptRuns = 20;

const run = z.strictObject({
  /** The latest of the times that it was begun for: ISO 8601, UTC, as the other times. */
  due: z.iso.datetime(),
  begunAt: z.iso.datetime(),
  /** The process that began it. */
  scheduler: z.strictObject({ pid: z.int(), host: z.string(), startedAt: z.iso.datetime() }).readonly(),
  /** How often it was begun: more than once where its mirror was locked. */
  attempts: z.int().positive(),
  /** Null while it goes on, and for ever where nobody saw its end. */
  endedAt: z.iso.datetime().nullable(),
  /** Null also where a signal ended it, or it could not be started. */
  exitCode: z.int().nullable(),
  seconds: z.number().nullable(),
  /** The numbers of its report, by name. */
  counts: z.record(z.string(), z.number()).nullable(),
  /** What it said of an error. */
  said: z.string().nullable(),
});

const content = z.strictObject({ version: z.literal(version), runs: z.array(run).readonly() });

export type ScheduledRun = Readonly<z.infer<typeof run>>;
export type Scheduler = ScheduledRun["scheduler"];

/** The oldest first; none where there is no such file, or it is not readable as one: a run is no less due for that. @throws AccountError */
export function readRuns(dataDir: string, name: string): readonly ScheduledRun[] {
  const text = readPrivateFile(fileOf(dataDir, name), { followsLinks: false });
  if (text === null) return [];
  try {
    return content.parse(JSON.parse(text)).runs;
  } catch {
    return [];
  }
}

/** In the place of what is known of this very run, else as the newest. Durable when this returns. @throws AccountError */
export function recordRun(dataDir: string, name: string, kept: ScheduledRun): void {
  const { runsFolder } = schedulePlace(dataDir);
  try {
    makeFolders(runsFolder);
  } catch (error) {
    throw toFileError(error, runsFolder);
  }
  const others = readRuns(dataDir, name).filter((other) => !isSameRun(other, kept));
  const runs = [...others, kept].slice(-maxKeptRuns);
  writePrivateFile(fileOf(dataDir, name), `${JSON.stringify({ version, runs }, null, 2)}\n`);
}

/** @throws AccountError */
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
  return a.begunAt === b.begunAt && a.due === b.due && isSameScheduler(a.scheduler, b.scheduler);
}

const fileOf = (dataDir: string, name: string): string =>
  join(schedulePlace(dataDir).runsFolder, `${name}.json`);

/** The numbers of what a command printed with `--json`, by the names that they are kept under. */

const sync = z.object({
  requests: z.object({ counted: z.number() }),
  resources: z.object({
    new: z.number(),
    changed: z.number(),
    gone: z.number(),
    pending: z.number(),
    failed: z.number(),
  }),
});

const exported = z.object({ files: z.array(z.object({ rows: z.number() })) });

export type Counts = Readonly<Record<string, number>>;

/** @returns null where there is no report, or none that is known */
export function summarizeReport(text: string): Counts | null {
  const value = parse(text);
  const ofBackup = z.object({ sync }).safeParse(value);
  const ofSync = sync.safeParse(ofBackup.success ? ofBackup.data.sync : value);
  if (ofSync.success) {
    const { requests, resources } = ofSync.data;
    return { ...resources, counted: requests.counted };
  }
  const ofExport = exported.safeParse(value);
  if (!ofExport.success) return null;
  const { files } = ofExport.data;
  return { files: files.length, rows: files.reduce((sum, { rows }) => sum + rows, 0) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
