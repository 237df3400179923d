/** Puts a coordinator's requests into the queue of their principal: one job for each, in the order of the plan. */
import { setTimeout as delay } from "node:timers/promises";
import type { JobsOptions, Queue } from "bullmq";
import { createBatcher } from "../async.ts";
import { reportRejection } from "../errors.ts";
import { type FetchPayload, readFetchPayload } from "../protocol.ts";
import { payloadVersion } from "../queue-names.ts";
import type { PendingRequest, PendingRequests } from "./pending-requests.ts";

/** What a person who reads the queue is told of a request. */
export type RequestDescription = Pick<FetchPayload, "run" | "kind" | "label" | "isFreeIfUnchanged">;

export interface RequestQueueOptions {
  readonly queue: Queue<FetchPayload>;
  /** The part of every job for the exchange between programs, apart from the request's id. */
  readonly reply: Omit<FetchPayload["reply"], "id">;
  readonly describe: (url: string) => RequestDescription;
  /** Whether jobs are about a person: then none stays after its end. */
  readonly isPrivate: boolean;
  readonly pending: PendingRequests;
  readonly onWarning: (text: string) => void;
  /** Rejects the requests that are not in the queue yet. */
  readonly signal: AbortSignal;
}

const maxRequestsPerWrite = 256;
/** With so many pending requests, workers are busy while the next write fills up. */
const busyCount = 32;
const requestsWorthWaiting = 8;
const retryMillis = 1000;

const hourSeconds = 3600;
const keptJobs: JobsOptions = {
  removeOnComplete: { count: 200, age: hourSeconds },
  removeOnFail: { count: 1_000, age: 7 * 24 * hourSeconds },
};
const removedJobs: JobsOptions = { removeOnComplete: true, removeOnFail: true };

export function toPayload(
  { id, attempt, request: { url, condition } }: PendingRequest,
  { reply, describe }: Pick<RequestQueueOptions, "reply" | "describe">,
): FetchPayload {
  const { run, kind, label, isFreeIfUnchanged } = describe(url);
  return {
    ...{ v: payloadVersion, run, kind, url, label, attempt },
    condition: [...condition],
    isFreeIfUnchanged,
    reply: { ...reply, id },
  };
}

/** Whether the data of a job, as stored, is what this coordinator has queued for a request. */
export function isJobOf(
  { id, request }: PendingRequest,
  reply: RequestQueueOptions["reply"],
  stored: string,
): boolean {
  let data: unknown;
  try {
    data = JSON.parse(stored);
  } catch {
    return false;
  }
  const payload = readFetchPayload(data);
  if ("problem" in payload) return false;
  const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);
  const { coordinatorId, credentialProof, queue } = payload.reply;
  return (
    payload.url === request.url &&
    isSame(payload.condition, request.condition) &&
    payload.reply.id === id &&
    isSame([coordinatorId, credentialProof, queue], [reply.coordinatorId, reply.credentialProof, reply.queue])
  );
}

/** @returns a function that queues one request, or rejects it if that is not possible any more */
export function openRequestQueue(options: RequestQueueOptions): (request: PendingRequest) => void {
  const { queue, reply, describe, isPrivate, pending, onWarning, signal } = options;
  const toJob = (added: PendingRequest) => {
    const { id } = added;
    added.jobId = id;
    const data = toPayload(added, { reply, describe });
    // Retries are the coordinator's decision, since they cost allowance. The stack of a failed one helps no reader.
    const opts = { jobId: id, attempts: 1, stackTraceLimit: 0, ...(isPrivate ? removedJobs : keptJobs) };
    return { name: data.kind, data, opts };
  };
  const report = reportRejection("jobs", onWarning);
  const batcher = createBatcher<PendingRequest>({
    maxItems: maxRequestsPerWrite,
    targetItems: () => (pending.size >= busyCount ? requestsWorthWaiting : 1),
    async write(batch) {
      await queue.addBulk(batch.filter((request) => pending.has(request)).map(toJob));
    },
    // A full Redis has room again once workers have taken some jobs.
    async onFailure(error) {
      report(error);
      await delay(retryMillis, undefined, { signal });
    },
  });
  return (request) => {
    batcher.add(request).catch((error: unknown) => pending.remove(request.id)?.reject(error));
  };
}
