/**
 * Puts a coordinator's requests into the queue of their principal. In: requests that are under way from now on. Out: jobs, in the
 * same order; where many requests are under way, one job carries several of them.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "bullmq";
import { gatherer } from "./gather.ts";
import { mostInJob } from "./pace.ts";
import type { FetchPayload } from "./payloads.ts";
import { fullRemark, isOutOfMemory } from "./redis-error.ts";
import type { Asked, UnderWay } from "./under-way.ts";

export interface OutboxOptions {
  readonly queue: Queue<FetchPayload>;
  /** What every job says besides its requests. */
  readonly common: Omit<FetchPayload, "requests">;
  readonly underWay: UnderWay;
  /** How many there are, as seen last. */
  readonly workers: () => number;
  readonly onRemark: (text: string) => void;
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
export function openOutbox(options: OutboxOptions): (asked: Asked) => void {
  const { queue, common, underWay, workers, onRemark, signal } = options;
  let jobs = 0;

  const toJob = (requests: readonly Asked[]) => {
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
  const outbox = gatherer<Asked>({
    most: addedTogether,
    worthWaitingFor: () => (underWay.size >= enoughAtHand ? mostInJob : 1),
    async write(gathered) {
      const waiting = gathered.filter((asked) => underWay.has(asked));
      const size = Math.floor(underWay.size / Math.max(fewestJobs, workers() * jobsForEach));
      await queue.addBulk(inGroups(waiting, Math.min(Math.max(size, 1), mostInJob)).map(toJob));
    },
    // Redis may be out of memory for a moment: what it holds is to be taken by workers, then there is room again.
    async onFailure(error) {
      onRemark(
        isOutOfMemory(error)
          ? fullRemark
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
