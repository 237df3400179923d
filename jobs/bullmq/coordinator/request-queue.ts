/**
 * Puts a coordinator's requests into the queue of their principal. In: pending requests. Out: jobs, in the same
 * order. With many pending requests, one job carries several of them.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "bullmq";
import { messageOf } from "../../../src/platform/errors.ts";
import { createBatcher } from "../async.ts";
import { isOutOfMemory, outOfMemoryMessage } from "../errors.ts";
import { type FetchPayload, maxRequestsPerJob } from "../protocol.ts";
import type { PendingRequest, PendingRequests } from "./pending-requests.ts";

export interface RequestQueueOptions {
  readonly queue: Queue<FetchPayload>;
  /** The payload of every job, apart from its requests. */
  readonly common: Omit<FetchPayload, "requests">;
  readonly pending: PendingRequests;
  /** The number of workers at the last check. */
  readonly workerCount: () => number;
  readonly onWarning: (text: string) => void;
  /** Rejects the requests that are not in the queue yet. */
  readonly signal: AbortSignal;
}

const maxRequestsPerWrite = 256;
/** With so many pending requests, workers are busy while the next job fills up. */
const busyCount = 32;
/** With fewer jobs, some workers would be idle while others have several requests. */
const minJobsPerWorker = 2;
const minJobs = 8;
const retryMillis = 1000;

/** @returns a function that queues one request, or rejects it if that is not possible any more */
export function openRequestQueue(options: RequestQueueOptions): (request: PendingRequest) => void {
  const { queue, common, pending, workerCount, onWarning, signal } = options;
  let jobCount = 0;

  const toJob = (group: readonly PendingRequest[]) => {
    const jobId = `${common.coordinatorId}.${++jobCount}`;
    for (const request of group) request.jobId = jobId;
    const requests = group.map(({ id, request: { url, condition } }) => ({
      id,
      url,
      condition: [...condition],
    }));
    const opts = { jobId, attempts: 1, removeOnComplete: true, removeOnFail: true };
    return { name: "fetch", data: { ...common, requests }, opts };
  };
  const batcher = createBatcher<PendingRequest>({
    maxItems: maxRequestsPerWrite,
    targetItems: () => (pending.size >= busyCount ? maxRequestsPerJob : 1),
    async write(batch) {
      const requests = batch.filter((request) => pending.has(request));
      const jobSize = Math.floor(pending.size / Math.max(minJobs, workerCount() * minJobsPerWorker));
      const groups = inGroups(requests, Math.min(Math.max(jobSize, 1), maxRequestsPerJob));
      await queue.addBulk(groups.map(toJob));
    },
    // A full Redis has room again once workers have taken some jobs.
    async onFailure(error) {
      onWarning(
        isOutOfMemory(error)
          ? outOfMemoryMessage
          : `Redis rejects jobs, retrying every second: ${messageOf(error)}`,
      );
      await delay(retryMillis, undefined, { signal });
    },
  });
  return (request) => {
    batcher.add(request).catch((error: unknown) => pending.remove(request.id)?.reject(error));
  };
}

function inGroups<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  );
}
