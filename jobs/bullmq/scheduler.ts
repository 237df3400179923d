/**
 * Recurring runs that several processes share. In: the runs, and when each is due next. Out: each due run, started by
 * one of the processes. Each mirror has a queue of its own with a global concurrency of one, so that a mirror never
 * has two runs at a time. It knows neither the commands of runs nor cron expressions.
 */

import { createHash } from "node:crypto";
import { DelayedError, type Queue, type RepeatOptions } from "bullmq";
import type { Clock } from "../../src/platform/clock.ts";
import { messageOf } from "../../src/platform/errors.ts";
import { withTimeout } from "./async.ts";
import { keyPrefix, scheduleQueueName } from "./queue-names.ts";
import { type QueueWatch, watchQueue } from "./queue-watch.ts";
import { ForceClosableWorker, openQueue, workerTimings } from "./queues.ts";
import type { RedisConnection } from "./redis.ts";

export interface RecurringRun {
  /** Contains no colon, and changes with the definition of the run. */
  readonly id: string;
  /** Unique among the current runs. Shown to people who look into Redis, as the name of the jobs. */
  readonly name: string;
  /** What is run; shown, too. */
  readonly command: string;
  /** Whose mirror it is about; shown, too. */
  readonly area: "catalogue" | "account";
  /** Runs of the same queue never overlap. */
  readonly queue: string;
  /** Shown, too; `nextAfter` decides. */
  readonly cron: string;
  /** Shown like `cron`. */
  readonly tz: string;
  /**
   * Epoch milliseconds of a due time without a run, for a Redis that has lost the schedule; null when there is none.
   */
  readonly missed: number | null;
  /** Epoch milliseconds in, epoch milliseconds out; null when it is never due again. */
  nextAfter(millis: number): number | null;
}

/** What came of a run. */
export interface RunResult {
  /** Null also if a signal ended it or it could not be started. */
  readonly exitCode: number | null;
  readonly seconds: number | null;
  /** The numbers of its report, by name. */
  readonly counts: Readonly<Record<string, number>> | null;
}

/** The data of a job. */
export interface ScheduledJob extends Pick<RecurringRun, "id" | "command" | "area"> {}

export interface SchedulerOptions {
  readonly redis: RedisConnection;
  /** The current runs. */
  readonly runs: () => readonly RecurringRun[];
  /** Resolves when the run has ended, with null if nothing was due any more; never rejects. */
  readonly execute: (id: string) => Promise<RunResult | null>;
  readonly clock: Pick<Clock, "now" | "sleep">;
  /** How soon a change of `runs` is noticed. */
  readonly pollMillis: number;
  /** Stops taking jobs; active runs are the caller's to interrupt. */
  readonly signal: AbortSignal;
  readonly onReady: () => void;
  readonly onWarning: (text: string) => void;
  /** Called at each look with what keeps runs from starting, if anything does. */
  readonly onProblems?: (problems: readonly string[]) => void;
}

interface MirrorQueue {
  readonly queue: Queue<ScheduledJob>;
  worker: ForceClosableWorker | null;
  watch: QueueWatch | null;
}

const closeTimeoutMillis = 2_000;
/** The delay before another process takes a job that arrived during shutdown. */
const requeueMillis = 1_000;
/** Retained so that the same missed due time is not made up for again. */
const retainedJobs = { count: 20 };

/** Resolves once `signal` is aborted and all active runs have ended. The caller ends the connection. */
export async function runScheduler(options: SchedulerOptions): Promise<void> {
  const { redis, runs, execute, clock, pollMillis, signal, onReady, onWarning } = options;
  const { onProblems = () => {} } = options;
  const { client } = redis;
  const activeRuns = new Set<Promise<unknown>>();
  let current: readonly RecurringRun[] = [];
  const repeatStrategy = (millis: number, _repeat: RepeatOptions, name?: string): number | undefined =>
    current.find((run) => run.name === name)?.nextAfter(millis) ?? undefined;
  const settings = { repeatStrategy };
  const mirrorQueues = new Map<string, MirrorQueue>();

  const openMirrorQueue = (name: string, area: RecurringRun["area"] = "catalogue"): MirrorQueue => {
    const digest = createHash("sha256").update(name).digest("hex").slice(0, 16);
    const queueName = scheduleQueueName(area, digest);
    const mirrorQueue = {
      queue: openQueue<ScheduledJob>(client, queueName, { settings }),
      worker: null,
      watch: null,
    };
    mirrorQueues.set(name, mirrorQueue);
    return mirrorQueue;
  };
  const startWorker = ({ queue }: MirrorQueue): ForceClosableWorker => {
    const worker = new ForceClosableWorker(
      queue.name,
      async (job, token) => {
        if (!signal.aborted) {
          const running = execute(job.data.id).finally(() => activeRuns.delete(running));
          activeRuns.add(running);
          const result = await running;
          // It waited for others until the shutdown.
          if (result !== null || !signal.aborted) return requireSuccess(result, job.name);
        }
        await job.moveToDelayed(clock.now() + requeueMillis, token);
        throw new DelayedError();
      },
      {
        connection: client,
        prefix: keyPrefix,
        settings,
        ...workerTimings,
        removeOnComplete: retainedJobs,
        removeOnFail: retainedJobs,
        // A run whose process died is repeated once, but not forever.
        maxStalledCount: 1,
      },
    );
    return worker.on("error", () => {});
  };

  const update = async (): Promise<void> => {
    current = runs();
    for (const name of new Set([...mirrorQueues.keys(), ...current.map(({ queue }) => queue)])) {
      const runsOfQueue = current.filter(({ queue }) => queue === name);
      const mirrorQueue = mirrorQueues.get(name) ?? openMirrorQueue(name, runsOfQueue[0]?.area);
      await updateJobSchedulers(mirrorQueue.queue, runsOfQueue);
      // Started after removed runs are gone from the queue.
      mirrorQueue.worker ??= startWorker(mirrorQueue);
      mirrorQueue.watch ??= watchQueue(client, mirrorQueue.queue, mirrorQueue.worker, onWarning);
    }
  };

  let isReady = false;
  let failure: string | null = null;
  while (!signal.aborted) {
    try {
      // An unreachable Redis must not delay the shutdown.
      await Promise.race([update(), whenAborted(signal)]);
      failure = null;
      if (!isReady && !signal.aborted) onReady();
      isReady = true;
    } catch (error) {
      const isNew = failure === null;
      failure = `The schedules cannot be written to Redis, retrying: ${messageOf(error)}`;
      if (isNew) onWarning(failure);
    }
    const ofQueues = [...mirrorQueues.values()].map(({ watch }) => watch?.problem ?? null);
    onProblems([failure, ...ofQueues].filter((problem) => problem !== null));
    await clock.sleep(pollMillis, signal).catch(() => {});
  }
  // Active runs end by themselves, with or without Redis.
  await Promise.all(activeRuns);
  const workers = [...mirrorQueues.values()].flatMap(({ worker }) => worker ?? []);
  for (const { watch } of mirrorQueues.values()) watch?.stop();
  const isDisconnected = client.status !== "ready";
  await withTimeout(closeTimeoutMillis, async () => {
    await Promise.all(workers.map((worker) => worker.close(isDisconnected)));
    if (!isDisconnected) await Promise.all([...mirrorQueues.values()].map(({ queue }) => queue.close()));
  });
  await Promise.all(workers.map((worker) => worker.stopTimers()));
}

/** The return value of a job. @throws Error without details, which may be of a person */
function requireSuccess(result: RunResult | null, name: string): RunResult | null {
  if (result === null || result.exitCode === 0) return result;
  const how =
    result.exitCode === null
      ? "did not start, or was ended by a signal"
      : `ended with exit code ${result.exitCode}`;
  throw new Error(`${how}; \`armoire schedule list ${name}\` shows why`);
}

/** BullMQ itself would read all that belongs to them, and fail at the first that another program has written. */
export async function listScheduleIds(queue: Queue): Promise<string[]> {
  const idsAndTimes = await queue.getBackend().getJobSchedulersRange(0, -1, true);
  return idsAndTimes.filter((_, n) => n % 2 === 0);
}

/** Adds missing runs to Redis and removes others. Existing ones continue unchanged. */
async function updateJobSchedulers(queue: Queue<ScheduledJob>, runs: readonly RecurringRun[]): Promise<void> {
  const existingIds = await listScheduleIds(queue);
  for (const id of existingIds) {
    if (!runs.some((run) => run.id === id)) await queue.removeJobScheduler(id);
  }
  const missing = runs.filter(({ id }) => !existingIds.includes(id));
  // A Redis that lost its data has lost this setting too.
  if (missing.length > 0) await queue.setGlobalConcurrency(1);
  for (const { id, name, command, area, cron, tz, missed } of missing) {
    const data: ScheduledJob = { id, command, area };
    // BullMQ makes up for overdue runs itself, but not for those that Redis has lost.
    if (missed !== null) await queue.add(name, data, { jobId: `${id}.${missed}`, attempts: 1 });
    await queue.upsertJobScheduler(
      id,
      { pattern: cron, tz },
      { name, data, opts: { attempts: 1, stackTraceLimit: 0 } },
    );
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
