/**
 * The schedules of a data directory. In: names and times. Out: schedules, or a ScheduleError that says what to do. It knows
 * neither the commands that are scheduled nor who begins them.
 */
import { randomUUID } from "node:crypto";
import { isAccountName, looksLikeToken } from "../accounts/account.ts";
import { type Clock, toIso } from "../platform/clock.ts";
import { toFileError } from "../platform/errors.ts";
import { makeFolders } from "../platform/folders.ts";
import { similarNames } from "../platform/fuzzy-names.ts";
import { takeLock } from "../platform/process-lock.ts";
import { requireJitterWithin, requireTimes } from "./cron-times.ts";
import { ScheduleError } from "./errors.ts";
import { removeRunHistory } from "./run-history.ts";
import {
  readScheduleFile,
  type Schedule,
  type ScheduleBook,
  schedulePlace,
  writeScheduleFile,
} from "./schedule.ts";

export interface NewSchedule extends Omit<Schedule, "delayMillis" | "addedAt"> {
  readonly dataDir: string;
  readonly clock: Pick<Clock, "now" | "random">;
}

/** In the order of their names. @throws ScheduleError `damaged`, `newer`; AccountError `unsafe`, `unwritable` */
export function listSchedules(dataDir: string): readonly Schedule[] {
  return readScheduleFile(dataDir)?.schedules ?? [];
}

/** @throws ScheduleError `unknown`, with what was perhaps meant; as `listSchedules` */
export function readSchedule(dataDir: string, name: string): Schedule {
  const schedules = listSchedules(dataDir);
  return schedules.find((schedule) => schedule.name === name) ?? throwUnknown(dataDir, name, schedules);
}

/** Durable when this returns. @throws ScheduleError, AccountError, MirrorError `unwritable` */
export function addSchedule({ dataDir, clock, ...wanted }: NewSchedule): Schedule {
  requireScheduleName(wanted.name);
  const now = clock.now();
  const tz = requireTimes(wanted.cron, wanted.tz, now);
  requireJitterWithin({ ...wanted, tz }, now);
  const schedule = {
    ...wanted,
    tz,
    delayMillis: Math.floor((clock.random() * wanted.jitterMillis) / 1000) * 1000,
    addedAt: toIso(now),
  };
  changeSchedules(dataDir, schedule.addedAt, ({ id, schedules }) => {
    if (schedules.some(({ name }) => name === schedule.name))
      throw new ScheduleError(
        "taken",
        `There is a schedule called ${schedule.name} already.`,
        `\`armoire schedule remove ${schedule.name}\` takes it away; or choose another name.`,
      );
    const sorted = [...schedules, schedule].sort((a, b) => (a.name < b.name ? -1 : 1));
    return { id, schedules: sorted };
  });
  return schedule;
}

/** What is known of its runs goes too. @throws as `readSchedule` and `addSchedule` */
export function removeSchedule(dataDir: string, name: string, clock: Pick<Clock, "now">): Schedule {
  const removed = readSchedule(dataDir, name);
  changeSchedules(dataDir, toIso(clock.now()), ({ id, schedules }) => ({
    id,
    schedules: schedules.filter((schedule) => schedule.name !== name),
  }));
  removeRunHistory(dataDir, name);
  return removed;
}

/** The schedules, and the file of them if there was none. @throws as `addSchedule` */
export function makeScheduleBook(dataDir: string, clock: Pick<Clock, "now">): ScheduleBook {
  const there = readScheduleFile(dataDir);
  return there ?? changeSchedules(dataDir, toIso(clock.now()), (book) => book);
}

function changeSchedules(
  dataDir: string,
  startedAt: string,
  change: (book: ScheduleBook) => ScheduleBook,
): ScheduleBook {
  try {
    makeFolders(dataDir);
  } catch (error) {
    throw toFileError(error, dataDir);
  }
  const { changeLock } = schedulePlace(dataDir);
  const lock = takeLock(changeLock, {
    startedAt,
    busyMessage: `The schedules in ${dataDir} are being changed`,
  });
  try {
    const book = change(readScheduleFile(dataDir) ?? { id: randomUUID(), schedules: [] });
    writeScheduleFile(dataDir, book);
    return book;
  } finally {
    lock.releaseAndRemove();
  }
}

/** @throws ScheduleError `bad-name`, which does not show the name: it may be a token in the wrong place */
function requireScheduleName(name: string): void {
  if (isAccountName(name) && !looksLikeToken(name)) return;
  throw new ScheduleError(
    "bad-name",
    "That is no name for a schedule.",
    "It may have up to 32 of a-z, 0-9, _ and -, begins with a letter or digit, and is no device of Windows such as con or nul.",
  );
}

function throwUnknown(dataDir: string, name: string, schedules: readonly Schedule[]): never {
  if (!isAccountName(name)) requireScheduleName(name);
  const [alike] = similarNames(
    name,
    schedules.map((schedule) => schedule.name),
    1,
  );
  throw new ScheduleError(
    "unknown",
    `There is no schedule called ${name} in ${dataDir}.`,
    alike === undefined
      ? "`armoire schedule list` shows the schedules, `armoire schedule add NAME` makes one."
      : `Did you mean ${alike}? \`armoire schedule list\` shows the schedules.`,
  );
}
