/**
 * Begins the runs of all schedules when they are due, until it is asked to end: alone for a data directory, or together with
 * other processes by way of Redis. In: a data directory and how to start this program. Out: what became of each run, kept.
 */

import { hostname } from "node:os";
import { toIso } from "../../platform/clock.ts";
import { FileError } from "../../platform/errors.ts";
import { isLocked, shareLock, takeLock } from "../../platform/process-lock.ts";
import { ScheduleError } from "../errors.ts";
import { isSameScheduler, readRuns, type Scheduler } from "../run-history.ts";
import { schedulePlace } from "../schedule.ts";
import { makeScheduleBook } from "../schedules.ts";
import { type ExecuteRunContext, executeRun } from "./execute-run.ts";
import { runLocally } from "./local-scheduler.ts";
import { runOverRedis } from "./redis-scheduler.ts";
import type { Candidate, DueRun, LastRun } from "./select-due-runs.ts";

export interface RunSchedulesOptions extends Omit<ExecuteRunContext, "scheduler"> {
  /** The address of Redis; without one, this process is alone. */
  readonly redis?: string;
  /** Called once runs begin, with how many schedules there are. */
  readonly onReady: (schedules: number) => void;
  /** Told what somebody may want to do something about. */
  readonly onWarning: (text: string) => void;
}

const lookAgainMillis = 5_000;
/** Before a run is begun whose outcome could not be kept: the disk may be full. */
const troubleMillis = 60_000;

/** @throws ScheduleError `busy` where another one is at work; ScheduleError and AccountError as for `listSchedules`; RedisError */
export async function runSchedules(options: RunSchedulesOptions): Promise<void> {
  const { dataDir, redis, clock, ending, onWarning } = options;
  const scheduler: Scheduler = {
    pid: process.pid,
    host: hostname(),
    startedAt: toIso(clock.now()),
  };
  const candidates = keepingLast(() => readCandidates(options, scheduler), onWarning);
  const onReady = () => options.onReady(candidates().length);
  const begin = async ({ schedule, due }: DueRun): Promise<void> => {
    try {
      await executeRun(schedule, due, { ...options, scheduler });
    } catch (error) {
      onWarning(`${schedule.name}: ${messageOf(error)}`);
      await clock.sleep(troubleMillis, ending).catch(() => {});
    }
  };
  const engine = { candidates, begin, clock, lookAgainMillis, ending };
  const release = holdRuns(dataDir, redis !== undefined, scheduler.startedAt);
  try {
    if (redis !== undefined) return await runOverRedis({ ...engine, dataDir, redis, onReady, onWarning });
    onReady();
    await runLocally(engine);
  } finally {
    release();
  }
}

/**
 * Schedulers that use the same Redis share the schedules; one without Redis runs them alone.
 * @throws FileError `locked`; ScheduleError `busy`
 */
function holdRuns(dataDir: string, isShared: boolean, startedAt: string): () => void {
  const { runLock } = schedulePlace(dataDir);
  const busyMessage = `The schedules in ${dataDir} are being run`;
  if (isShared) return shareLock(runLock, busyMessage).release;
  try {
    return takeLock(runLock, { startedAt, busyMessage }).releaseAndRemove;
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "locked" || isLocked(runLock)) throw error;
    throw new ScheduleError(
      "busy",
      `${busyMessage} by way of Redis.`,
      "Give this one the same --redis, or end the others first.",
      { cause: error },
    );
  }
}

function readCandidates(
  { dataDir, clock }: Pick<RunSchedulesOptions, "dataDir" | "clock">,
  scheduler: Scheduler,
): readonly Candidate[] {
  return makeScheduleBook(dataDir, clock).schedules.map((schedule) => ({
    schedule,
    last: readLastRun(dataDir, schedule.name, scheduler),
  }));
}

/** No two runs of a mirror go on at a time: whoever else has begun one and has not ended it is gone. */
function readLastRun(dataDir: string, name: string, scheduler: Scheduler): LastRun | null {
  const runs = readRuns(dataDir, name);
  const last = runs.at(-1);
  if (last === undefined) return null;
  return {
    due: Date.parse(last.due),
    isLost: last.endedAt === null && !isSameScheduler(last.scheduler, scheduler),
    isRepeat: runs.at(-2)?.due === last.due,
  };
}

/** What was read before goes on where a file cannot be read later: somebody may be correcting it. @throws what `read` throws, here alone */
function keepingLast<Result>(read: () => Result, onWarning: (text: string) => void): () => Result {
  let last = read();
  let lastProblem: string | null = null;
  return () => {
    try {
      last = read();
      lastProblem = null;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== lastProblem) onWarning(problem);
      lastProblem = problem;
    }
    return last;
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
