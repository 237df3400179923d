/**
 * The queue of a principal's runs. Each run of a sync is one job, which its own coordinator processes: it takes exactly
 * that job, and renews its lock for as long as the process lives. A job whose lock has expired is failed by the next process
 * that looks, coordinator or worker. Nothing here decides what is fetched.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Job, type JobsOptions, type Queue, UnrecoverableError, Worker } from "bullmq";
import { keyPrefix, type Principal, runQueueName } from "../queue-names.ts";
import { openQueue, workerName } from "../queues.ts";
import type { RedisConnection } from "../redis.ts";

/** A job of this process, and the token of its lock. */
export interface HeldRun {
  readonly job: Job;
  readonly token: string;
}

export interface RunQueue {
  /** Adds a job and takes it. @returns null if another process holds the queue up, or the queue is paused */
  begin(name: string, data: unknown, options: JobsOptions): Promise<HeldRun | null>;
  close(): Promise<void>;
}

export const coordinatorEnded =
  "The coordinator ended before its run did. Its mirror is intact, and the next sync continues.";

/** Longer than a busy coordinator's longest pause. */
export const runLockMillis = 15_000;
const stalledCheckMillis = 5_000;
const maxTakes = 10;
const takeAgainMillis = 50;
/** A coordinator takes its job at once. One that waits so long has lost its coordinator. */
const maxWaitMillis = 60_000;

/** Also fails the jobs of coordinators that have ended, now and for as long as the queue is open. */
export function openRunQueue({ client }: RedisConnection, principal: Principal): RunQueue {
  const name = runQueueName(principal);
  const queue: Queue = openQueue(client, name);
  // Without a processor, it takes only what it is told to.
  const worker = new Worker(name, null, {
    ...{ connection: client, prefix: keyPrefix, name: workerName, autorun: false },
    ...{ lockDuration: runLockMillis, stalledInterval: stalledCheckMillis },
  });
  worker.on("error", () => {});

  const takeNext = async (): Promise<HeldRun | null> => {
    const token = randomUUID();
    const job = await worker.getNextJob(token, { block: false });
    return job === undefined ? null : { job, token };
  };
  /** @returns whether it was one of a lost coordinator; otherwise it waits again for its own one */
  const putAside = async ({ job, token }: HeldRun): Promise<boolean> => {
    const isLost = job.stalledCounter > 0 || Date.now() - job.timestamp > maxWaitMillis;
    if (isLost) await job.moveToFailed(new UnrecoverableError(coordinatorEnded), token);
    else await job.moveToWait(token);
    return isLost;
  };
  const failLost = async (): Promise<void> => {
    for (let held = await takeNext(); held !== null; held = await takeNext()) {
      if (!(await putAside(held))) return;
    }
  };
  worker.on("stalled", () => void failLost().catch(() => {}));
  void worker.startStalledCheckTimer().catch(() => {});

  return {
    async begin(name, data, options) {
      // The last in is the first out, so that no other job is in the way.
      const added = await queue.add(name, data, { ...options, attempts: 1, stackTraceLimit: 0, lifo: true });
      for (let take = 0; take < maxTakes; take++) {
        const held = await takeNext();
        if (held?.job.id === added.id) return held;
        if (held === null || !(await putAside(held))) await delay(takeAgainMillis);
      }
      await added.remove().catch(() => {});
      return null;
    },
    async close() {
      // It processes nothing, so there is nothing to wait for, and Redis may not respond.
      await worker.close(true);
      await queue.close();
    },
  };
}
