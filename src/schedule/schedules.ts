/**
 * Lists, adds and removes the schedules of a data directory. It knows neither the scheduled commands nor how they are
 * run.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isAccountName, looksLikeToken } from "../accounts/account-name.ts";
import { type Clock, toIso } from "../platform/clock.ts";
import { requireWholeNumbers, toFileError } from "../platform/errors.ts";
import { makeFolders } from "../platform/folders.ts";
import { takeLock } from "../platform/process-lock.ts";
import { similarNames } from "../platform/text/fuzzy-names.ts";
import { defaultJitterMillis, requireJitterWithin, requireTimes } from "./cron-times.ts";
import { ScheduleError } from "./errors.ts";
import { removeRunHistory } from "./run-history.ts";
import {
  readScheduleFile,
  type Schedule,
  type ScheduleFile,
  schedulePaths,
  writeScheduleFile,
} from "./schedule.ts";

export interface NewSchedule extends Omit<Schedule, "jitterMillis" | "delayMillis" | "addedAt"> {
  /** Default: a tenth of the time between two runs, at most a minute. */
  readonly jitterMillis?: number;
  /** Whether a schedule of this name is replaced; its run history stays. Default: false. */
  readonly replace?: boolean;
  readonly dataDir: string;
  readonly clock: Pick<Clock, "now" | "random">;
}

/**
 * The schedules of a data directory, sorted by name.
 * @throws ScheduleError `damaged`, `newer`; FileError `unsafe`, `unwritable`
 */
export function listSchedules(dataDir: string): readonly Schedule[] {
  return readScheduleFile(dataDir)?.schedules ?? [];
}

/** Reads one schedule. @throws ScheduleError `unknown`, with the most similar name; as `listSchedules` */
export function readSchedule(dataDir: string, name: string): Schedule {
  const schedules = listSchedules(dataDir);
  return schedules.find((schedule) => schedule.name === name) ?? throwUnknown(dataDir, name, schedules);
}

/**
 * Adds a schedule, or replaces it; durable on return.
 * @throws ScheduleError `bad-name`, `bad-time`, `taken`, and others; FileError; RangeError for an invalid `jitterMillis`
 */
export function addSchedule({ dataDir, clock, replace = false, ...request }: NewSchedule): Schedule {
  requireScheduleName(request.name);
  requireWholeNumbers(0, { jitterMillis: request.jitterMillis });
  const now = clock.now();
  const tz = requireTimes(request.cron, request.tz, now);
  const jitterMillis = request.jitterMillis ?? defaultJitterMillis({ cron: request.cron, tz }, now);
  requireJitterWithin({ cron: request.cron, tz, jitterMillis }, now);
  const schedule = {
    ...request,
    tz,
    jitterMillis,
    delayMillis: Math.floor((clock.random() * jitterMillis) / 1000) * 1000,
    addedAt: toIso(now),
  };
  let added = schedule;
  changeSchedules(dataDir, schedule.addedAt, (file) => {
    const { id, schedules } = file;
    const existing = schedules.find(({ name }) => name === schedule.name);
    if (existing !== undefined && replace && isSameRequest(existing, schedule)) {
      added = existing;
      return file;
    }
    if (existing !== undefined && !replace)
      throw new ScheduleError(
        "taken",
        `A schedule called ${schedule.name} exists already.`,
        `Replace it with --replace, or choose another name.`,
      );
    const others = schedules.filter(({ name }) => name !== schedule.name);
    const sorted = [...others, schedule].sort((a, b) => (a.name < b.name ? -1 : 1));
    return { id, schedules: sorted };
  });
  return added;
}

/** An equal schedule keeps its delay, and the due times that it has had. */
function isSameRequest(a: Schedule, b: Schedule): boolean {
  const { delayMillis: _a, addedAt: _b, ...one } = a;
  const { delayMillis: _c, addedAt: _d, ...other } = b;
  return isDeepStrictEqual(one, other);
}

/** Removes a schedule and the history of its runs. @returns what it was. @throws as `readSchedule` and `addSchedule` */
export function removeSchedule(dataDir: string, name: string, clock: Pick<Clock, "now">): Schedule {
  const removed = readSchedule(dataDir, name);
  changeSchedules(dataDir, toIso(clock.now()), ({ id, schedules }) => ({
    id,
    schedules: schedules.filter((schedule) => schedule.name !== name),
  }));
  removeRunHistory(dataDir, name);
  return removed;
}

/** Creates the file, with an id and no schedules, if it does not exist. @throws as `addSchedule` */
export function ensureScheduleFile(dataDir: string, clock: Pick<Clock, "now">): ScheduleFile {
  const existing = readScheduleFile(dataDir);
  return existing ?? changeSchedules(dataDir, toIso(clock.now()), (file) => file);
}

function changeSchedules(
  dataDir: string,
  startedAt: string,
  change: (file: ScheduleFile) => ScheduleFile,
): ScheduleFile {
  try {
    makeFolders(dataDir);
  } catch (error) {
    throw toFileError(error, dataDir);
  }
  const { changeLock } = schedulePaths(dataDir);
  const lock = takeLock(changeLock, {
    startedAt,
    busyMessage: `The schedules in ${dataDir} are being changed`,
  });
  try {
    const changed = change(readScheduleFile(dataDir) ?? { id: randomUUID(), schedules: [] });
    writeScheduleFile(dataDir, changed);
    return changed;
  } finally {
    lock.releaseAndRemove();
  }
}

/** @throws ScheduleError `bad-name`; its message omits the name, which may be a misplaced token */
export function requireScheduleName(name: string): void {
  if (isAccountName(name) && !looksLikeToken(name)) return;
  throw new ScheduleError(
    "bad-name",
    "This is not a valid name for a schedule.",
    "Use at most 32 of a-z, 0-9, _ and -, beginning with a letter or digit. Device names of Windows such as con or nul are reserved.",
  );
}

function throwUnknown(dataDir: string, name: string, schedules: readonly Schedule[]): never {
  if (!isAccountName(name)) requireScheduleName(name);
  const names = schedules.map((schedule) => schedule.name);
  const [similar] = similarNames(name, names, 1);
  throw new ScheduleError(
    "unknown",
    `There is no schedule called ${name} in ${dataDir}.`,
    similar === undefined
      ? "List the schedules with `armoire schedule list`; add one with `armoire schedule add NAME`."
      : `Did you mean ${similar}? List the schedules with \`armoire schedule list\`.`,
  );
}
