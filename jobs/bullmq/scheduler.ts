/**
 * Recurring runs that several processes share. In: what is to run and when it is next due. Out: each due run, begun by one of them.
 * It knows neither what a run does nor how times are reckoned. A queue for each mirror, from which one job at a time is taken
 * whoever takes it: so no two runs of a mirror go on at once.
 */
import { createHash } from "node:crypto";
import { DelayedError, Queue, type RepeatOptions } from "bullmq";
import type { Clock } from "../../src/platform/clock.ts";
import { withTimeout } from "./async.ts";
import { keyPrefix, type RedisConnection } from "./redis.ts";
import { timeouts } from "./timeouts.ts";
import { ForceClosableWorker } from "./worker/fetch-worker.ts";

export interface RecurringRun {
  /** Without a colon; another one for another definition. */
  readonly id: string;
  /** Of those with the same one, one goes on at a time. */
  readonly queue: string;
  /** To be seen by people who look into Redis. */
  readonly cron: string;
  readonly tz: string;
  /** The time that it should have had a run for, where Redis knows nothing of it; epoch milliseconds. */
  readonly missed: number | null;
  /** Epoch milliseconds, both. */
  nextAfter(millis: number): number | null;
}

export interface SchedulerOptions {
  readonly redis: RedisConnection;
  /** What there is to run, as it is now. */
  readonly runs: () => readonly RecurringRun[];
  /** Resolves when the run has ended; never rejects. */
  readonly execute: (id: string) => Promise<void>;
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly pollMillis: number;
  /** Takes no more from then on; `begin` is to hurry by itself. */
  readonly signal: AbortSignal;
  readonly onReady: () => void;
  readonly onWarning: (text: string) => void;
}

interface Lane {
  readonly queue: Queue;
  worker: ForceClosableWorker | null;
}

/** For saying that runs have ended. */
const goodbyeMillis = 2_000;
/** After which somebody else takes a job that came when this process was to end. */
const handedBackMillis = 1_000;
/** Remembered, so that what was made up for is not made up for again. */
const keptJobs = { count: 20 };

/** Until `signal`, and until what is under way then has ended. The connection is the caller's to end. */
export async function runScheduler(options: SchedulerOptions): Promise<void> {
  const { redis, runs, execute, clock, pollMillis, signal, onReady, onWarning } = options;
  const { client } = redis;
  const underWay = new Set<Promise<void>>();
  let known: readonly RecurringRun[] = [];
  const nextOf = (millis: number, _repeat: RepeatOptions, id?: string): number | undefined =>
    known.find((run) => run.id === id)?.nextAfter(millis) ?? undefined;
  const shared = { connection: client, prefix: keyPrefix, settings: { repeatStrategy: nextOf } };
  const lanes = new Map<string, Lane>();

  const openLane = (name: string): Lane => {
    const queue = new Queue(`runs-${createHash("sha256").update(name).digest("hex").slice(0, 16)}`, shared);
    queue.on("error", () => {});
    const lane = { queue, worker: null };
    lanes.set(name, lane);
    return lane;
  };
  const startWorker = ({ queue }: Lane): ForceClosableWorker => {
    const worker = new ForceClosableWorker(
      queue.name,
      async (job, token) => {
        if (!signal.aborted) {
          const running = execute(job.name).finally(() => underWay.delete(running));
          underWay.add(running);
          return await running;
        }
        await job.moveToDelayed(clock.now() + handedBackMillis, token);
        throw new DelayedError();
      },
      {
        ...shared,
        removeOnComplete: keptJobs,
        removeOnFail: keptJobs,
        // One whose process died is begun once more, and not for ever.
        maxStalledCount: 1,
        lockDuration: timeouts.lockMillis,
        stalledInterval: timeouts.stalledMillis,
        runRetryDelay: 1000,
      },
    );
    return worker.on("error", () => {});
  };

  const bringUpToDate = async (): Promise<void> => {
    known = runs();
    for (const name of new Set([...lanes.keys(), ...known.map(({ queue }) => queue)])) {
      const lane = lanes.get(name) ?? openLane(name);
      const wanted = known.filter(({ queue }) => queue === name);
      await agree(lane.queue, wanted);
      // What should not run any more is out of the way before the first job is taken.
      lane.worker ??= startWorker(lane);
    }
  };

  let isReady = false;
  let isTroubled = false;
  while (!signal.aborted) {
    try {
      // While Redis is away its answer is waited for, but not by who is to end.
      await Promise.race([bringUpToDate(), aborted(signal)]);
      isTroubled = false;
      if (!isReady && !signal.aborted) onReady();
      isReady = true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      if (!isTroubled) onWarning(`Redis takes no schedules for now: ${reason}`);
      isTroubled = true;
    }
    await clock.sleep(pollMillis, signal).catch(() => {});
  }
  // What has begun is to end whether Redis is there or not.
  await Promise.all(underWay);
  const workers = [...lanes.values()].flatMap(({ worker }) => worker ?? []);
  const isAway = client.status !== "ready";
  await withTimeout(goodbyeMillis, async () => {
    await Promise.all(workers.map((worker) => worker.close(isAway)));
    if (!isAway) await Promise.all([...lanes.values()].map(({ queue }) => queue.close()));
  });
  await Promise.all(workers.map((worker) => worker.letGo()));
}

/** Has Redis know these and no others; what it knows already goes on as it is. */
async function agree(queue: Queue, wanted: readonly RecurringRun[]): Promise<void> {
  const there = (await queue.getJobSchedulers()).map(({ key }) => key);
  for (const id of there) {
    if (!wanted.some((run) => run.id === id)) await queue.removeJobScheduler(id);
  }
  const missing = wanted.filter(({ id }) => !there.includes(id));
  // It goes with everything else where Redis forgets.
  if (missing.length > 0) await queue.setGlobalConcurrency(1);
  for (const { id, cron, tz, missed } of missing) {
    // BullMQ itself keeps one that is overdue, so only what Redis had forgotten has to be made up for.
    if (missed !== null) await queue.add(id, {}, { jobId: `${id}.${missed}`, attempts: 1 });
    await queue.upsertJobScheduler(id, { pattern: cron, tz }, { name: id, data: {}, opts: { attempts: 1 } });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
