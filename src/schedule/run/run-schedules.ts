/**
 * Starts the runs of all schedules of a data directory when they are due. In: the data directory and how to start
 * this program. Out: the recorded outcome of each run. It runs either alone or together with other processes through
 * Redis.
 */
import { availableParallelism, hostname } from "node:os";
import type { RunResult } from "../../../jobs/bullmq/scheduler.ts";
import { toIso } from "../../platform/clock.ts";
import { FileError, messageOf, requireWholeNumbers } from "../../platform/errors.ts";
import { isLocked, shareLock, takeLock } from "../../platform/process-lock.ts";
import { ScheduleError } from "../errors.ts";
import { isSameScheduler, readRuns, type Scheduler } from "../run-history.ts";
import { schedulePaths } from "../schedule.ts";
import { ensureScheduleFile } from "../schedules.ts";
import { type ExecuteRunContext, executeRun } from "./execute-run.ts";
import { runLocally } from "./local-scheduler.ts";
import { runOverRedis } from "./redis-scheduler.ts";
import type { Candidate, DueRun, LastRun } from "./select-due-runs.ts";

export interface RunSchedulesOptions extends Omit<ExecuteRunContext, "scheduler"> {
  /** The address of the Redis that schedulers share. Default: this process is the only scheduler. */
  readonly redis?: string;
  /** Runs of this process at a time. Default: as many as processors. */
  readonly maxRuns?: number;
  /** Called once runs can start, with the number of schedules. */
  readonly onReady: (scheduleCount: number) => void;
  /** Receives problems that an operator may need to act on. */
  readonly onWarning: (text: string) => void;
  /** Called every few seconds with what keeps runs from starting, if anything does. */
  readonly onProblems?: (problems: readonly string[]) => void;
  /** Called each time the schedules are looked at, every few seconds. */
  readonly onPoll?: () => void;
}

const pollMillis = 5_000;
/** The pause after a run whose outcome could not be recorded: the disk may be full. */
const failurePauseMillis = 60_000;

/**
 * Starts the runs of all schedules when they are due. Resolves once `signal` is aborted and all active runs have ended.
 * @throws RangeError for `maxRuns`; ScheduleError `busy`; FileError `locked`; as `listSchedules`; RedisError
 */
export async function runSchedules(options: RunSchedulesOptions): Promise<void> {
  const { dataDir, redis, clock, signal, onWarning, maxRuns } = options;
  requireWholeNumbers(1, { maxRuns });
  const scheduler: Scheduler = {
    pid: process.pid,
    host: hostname(),
    startedAt: toIso(clock.now()),
  };
  const read = withLastGoodValue(() => readCandidates(options, scheduler), onWarning);
  const candidates = () => {
    options.onPoll?.();
    return read();
  };
  const onReady = () => options.onReady(candidates().length);
  const limit = limitRuns(maxRuns ?? availableParallelism());
  const execute = (run: DueRun) => limit(() => (signal.aborted ? Promise.resolve(null) : executeNow(run)));
  const executeNow = async ({ schedule, due }: DueRun): Promise<RunResult | null> => {
    try {
      const { exitCode, seconds, counts } = await executeRun(schedule, due, { ...options, scheduler });
      return { exitCode, seconds, counts };
    } catch (error) {
      onWarning(`${schedule.name}: ${messageOf(error)}`);
      await clock.sleep(failurePauseMillis, signal).catch(() => {});
      return { exitCode: null, seconds: null, counts: null };
    }
  };
  const engine = { candidates, execute, clock, pollMillis, signal };
  const release = lockRuns(dataDir, redis !== undefined, scheduler.startedAt);
  try {
    if (redis !== undefined) {
      const { onProblems = () => {} } = options;
      return await runOverRedis({ ...engine, dataDir, redis, onReady, onWarning, onProblems });
    }
    onReady();
    await runLocally(engine);
  } finally {
    release();
  }
}

/** The others wait, in their order. */
function limitRuns(max: number) {
  let free = max;
  const waiting: (() => void)[] = [];
  return async <Result>(run: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/**
 * Schedulers with Redis share the lock; a scheduler without Redis takes it alone.
 * @throws FileError `locked`; ScheduleError `busy`
 */
function lockRuns(dataDir: string, isShared: boolean, startedAt: string): () => void {
  const { runLock } = schedulePaths(dataDir);
  const busyMessage = `The schedules in ${dataDir} are being run`;
  if (isShared) return shareLock(runLock, busyMessage).release;
  try {
    return takeLock(runLock, { startedAt, busyMessage }).releaseAndRemove;
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "locked" || isLocked(runLock)) throw error;
    throw new ScheduleError(
      "busy",
      `${busyMessage} by schedulers that share a Redis.`,
      "Give this one the same --redis, or stop the others first.",
      { cause: error },
    );
  }
}

function readCandidates(
  { dataDir, clock }: Pick<RunSchedulesOptions, "dataDir" | "clock">,
  scheduler: Scheduler,
): readonly Candidate[] {
  return ensureScheduleFile(dataDir, clock).schedules.map((schedule) => ({
    schedule,
    lastRun: readLastRun(dataDir, schedule.name, scheduler),
  }));
}

/** A mirror has one run at a time. So an unended run of another scheduler is lost: that scheduler is dead. */
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

/**
 * Reads again at each call, and returns the last value if that fails: the user may be editing a file.
 * @throws the error of the first read
 */
function withLastGoodValue<Value>(read: () => Value, onWarning: (text: string) => void): () => Value {
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
