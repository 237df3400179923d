/**
 * Puts a coordinator's requests into the queue of their principal. In: requests that are under way from now on. Out: jobs, in the
 * same order; where many requests are under way, one job carries several of them.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { createBatcher, withTimeout } from "../async.ts";
import { isOutOfMemory, outOfMemoryMessage } from "../errors.ts";
import type { FetchPayload } from "../protocol.ts";
import { maxRequestsPerJob } from "../timeouts.ts";
import type { PendingRequest, PendingRequests } from "./pending-requests.ts";

export interface RequestQueueOptions {
  readonly queue: Queue<FetchPayload>;
  /** What every job says besides its requests. */
  readonly common: Omit<FetchPayload, "requests">;
  readonly underWay: PendingRequests;
  /** How many there are, as seen last. */
  readonly workers: () => number;
  readonly onWarning: (text: string) => void;
  /** Gives up what could not be put into the queue yet. */
  readonly signal: AbortSignal;
}

/** Requests that are put into Redis together at most. */
const addedTogether = 256;
/** With so many under way, workers have enough at hand: nobody waits while a job's worth of the next ones gathers. */
const enoughAtHand = 32;
/** Jobs that there should be for each worker, so that none is idle while another has several. */
const jobsForEach = 2;
const fewestJobs = 8;
const againMillis = 1000;

/** @returns puts one into the queue; where that cannot be any more, rejects what waits for its answer */
export function openRequestQueue(options: RequestQueueOptions): (asked: PendingRequest) => void {
  const { queue, common, underWay, workers, onWarning, signal } = options;
  let jobs = 0;

  const toJob = (requests: readonly PendingRequest[]) => {
    const jobId = `${common.coordinator}.${++jobs}`;
    for (const asked of requests) asked.job = jobId;
    const asked = requests.map(({ id, request: { url, condition } }) => ({
      id,
      url,
      condition: [...condition],
    }));
    const opts = { jobId, attempts: 1, removeOnComplete: true, removeOnFail: true };
    return { name: "fetch", data: { ...common, requests: asked }, opts };
  };
  const outbox = createBatcher<PendingRequest>({
    most: addedTogether,
    worthWaitingFor: () => (underWay.size >= enoughAtHand ? maxRequestsPerJob : 1),
    async write(gathered) {
      const waiting = gathered.filter((asked) => underWay.has(asked));
      const size = Math.floor(underWay.size / Math.max(fewestJobs, workers() * jobsForEach));
      await queue.addBulk(inGroups(waiting, Math.min(Math.max(size, 1), maxRequestsPerJob)).map(toJob));
    },
    // Redis may be out of memory for a moment: what it holds is to be taken by workers, then there is room again.
    async onFailure(error) {
      onWarning(
        isOutOfMemory(error)
          ? outOfMemoryMessage
          : `Redis takes no jobs for now: ${error instanceof Error ? error.message : error}`,
      );
      await delay(againMillis, undefined, { signal });
    },
  });
  return (asked) => {
    outbox.add(asked).catch((error: unknown) => underWay.take(asked.id)?.reject(error));
  };
}

function inGroups<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  );
}

/** Taking back what nobody has begun. Where Redis is away, nothing is there that could be taken back, nor told apart. */

/**
 * BullMQ's own removal says the same of a job that is done, and of one that a lost worker had begun, as of one that nobody has
 * begun. Workers delay only what they leave to others, unsent, until it waits again; what a lost worker had begun has `defa`.
 */
const takeIfUnsent = `
  local id = ARGV[1]
  if redis.call("HEXISTS", KEYS[1], "defa") == 1 then return 0 end
  local waiting = redis.call("ZREM", KEYS[2], id) + redis.call("LREM", KEYS[3], 1, id) + redis.call("LREM", KEYS[4], 1, id)
  return waiting > 0 and redis.call("DEL", KEYS[1]) or 0`;

/** Whether, as far as Redis has kept all, none of the job's requests was sent, and now none will be. */
export async function removeIfWaiting(client: Redis, queue: Queue, id: string): Promise<boolean> {
  const keys = [id, "delayed", "wait", "paused"].map((key) => queue.toKey(key));
  return await client.eval(takeIfUnsent, keys.length, ...keys, id).then(
    (taken) => taken === 1,
    () => false,
  );
}

const patienceMillis = 1000;

/**
 * For one request of a job, of which the others are not wanted any more either.
 * @returns whether it was surely not sent; null is a job that was not made yet
 */
export function createCanceller(client: Redis, queue: Queue): (job: string | null) => Promise<boolean> {
  const takenBack = new Map<string, Promise<boolean>>();
  return async (job) => {
    if (job === null) return true;
    if (client.status !== "ready") return false;
    const isTakenBack = takenBack.get(job) ?? removeIfWaiting(client, queue, job);
    takenBack.set(job, isTakenBack);
    return (await withTimeout(patienceMillis, () => isTakenBack)) ?? false;
  };
}
