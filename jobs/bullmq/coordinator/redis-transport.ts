/**
 * The transport of a coordinator: workers send its requests. In: a request with its permit. Out: the response that a
 * worker put into the coordinator's queue of responses. A request that is lost in Redis ends as a request without a
 * response. Retries are the decision of the client.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../../src/platform/clock.ts";
import { messageOf } from "../../../src/platform/errors.ts";
import type { Transport } from "../../../src/service/transport/transport.ts";
import { cacheFor, warnOnce, withTimeout } from "../async.ts";
import { startHeartbeat } from "../heartbeat.ts";
import { type FetchPayload, fromWireResponse, type WireResponse } from "../protocol.ts";
import { credentialProofOf, fetchQueueName, type Principal, responseQueueName } from "../queue-names.ts";
import { watchQueue } from "../queue-watch.ts";
import { openQueue } from "../queues.ts";
import type { RedisConnection } from "../redis.ts";
import { createBackoff } from "./backoff.ts";
import { createCanceller, removeEndedJobs } from "./cancel-jobs.ts";
import { detectLostJobs, type QueueStatus } from "./lost-jobs.ts";
import { hasMismatchedWorkers } from "./mismatched-workers.ts";
import { type PendingRequest, PendingRequests } from "./pending-requests.ts";
import { isJobOf, openRequestQueue, type RequestDescription, toPayload } from "./request-queue.ts";
import { openResponseQueue } from "./response-queue.ts";

export interface RedisTransportOptions {
  readonly redis: RedisConnection;
  readonly principal: Principal;
  /**
   * Identifies the mirror, without its path. All its runs have the same key, so the next run drops late responses.
   */
  readonly mirrorKey: string;
  /** Whether jobs are about a person: then none stays after its end. */
  readonly isPrivate: boolean;
  /** What a person who reads the queue is told of a request. */
  readonly describe: (url: string) => RequestDescription;
  readonly clock: Clock;
  /** Called when the workers are paused, with its end in epoch milliseconds. */
  readonly onPause?: (until: number) => void;
  /** Receives problems that the user may need to act on. */
  readonly onWarning: (text: string) => void;
}

const maxRequeues = 5;
const heartbeatRetryMillis = 1000;
/** How often Redis is searched for workers with another credential. */
const workerSearchMillis = 30_000;
/** For removing keys at the end. Remaining ones expire, or the next run removes them. */
const cleanupMillis = 2000;

/** @throws RedisError `unsuitable`; an error of Redis if the connection ends before it is open */
export async function openRedisTransport(options: RedisTransportOptions): Promise<Transport> {
  const { redis, principal, mirrorKey, clock } = options;
  const { client } = redis;
  const coordinatorId = randomUUID();
  const credentialProof = credentialProofOf(principal, coordinatorId);
  const responseQueueId = responseQueueName(mirrorKey);
  // Nothing of an account goes to other services.
  const telemetry = !options.isPrivate && redis.telemetry;
  const requestQueue = openQueue<FetchPayload>(client, fetchQueueName(principal), {
    ...(telemetry && { telemetry }),
  });
  const pending = new PendingRequests(coordinatorId);
  const closing = new AbortController();
  const onWarning = warnOnce(options.onWarning);

  const reply = { coordinatorId, credentialProof, queue: responseQueueId };
  const enqueue = openRequestQueue({
    queue: requestQueue,
    pending,
    onWarning,
    signal: closing.signal,
    describe: options.describe,
    isPrivate: options.isPrivate,
    reply,
  });
  const backoff = createBackoff(client, requestQueue, pending, clock, options.onPause);

  /** Redis may have lost the heartbeat. Until workers can see it, they would return the request unsent again. */
  const requeue = async (request: PendingRequest): Promise<void> => {
    for (;;) {
      const problem = await heartbeat.renew();
      if (problem === null || !pending.has(request)) break;
      onWarning(`Workers do not see this sync and send nothing for it, retrying every second: ${problem}`);
      await delay(heartbeatRetryMillis, undefined, { signal: closing.signal }).catch(() => {});
      if (closing.signal.aborted) return;
    }
    enqueue(request);
  };
  const acceptResponse = (response: WireResponse): void => {
    const ended = pending.remove(response.id);
    if (ended === undefined) return;
    const { request, requeueCount } = ended;
    if (response.outcome === "unsent") {
      if (requeueCount === maxRequeues)
        pending.fail(ended, "worker-lost", `${requeueCount} workers returned it unsent`);
      else void requeue(pending.add(request, { ...ended, requeueCount: requeueCount + 1 }));
      return;
    }
    const received = fromWireResponse(response, request.url);
    if (received.failure !== null || received.head.status >= 400) pending.countFailure(ended);
    // The next request is queued only after that.
    void backoff
      .applyResponse(request.url, received)
      .catch(() => {})
      .then(() => ended.resolve(received));
  };

  const heartbeat = await startHeartbeat(redis, responseQueueId, coordinatorId, () =>
    removeEndedJobs(client, requestQueue, (jobId) => pending.isEnded(jobId)),
  );
  const responseQueue = openResponseQueue({
    name: responseQueueId,
    client,
    onResponse: acceptResponse,
    onWarning,
  });
  const watch = watchQueue(client, requestQueue, null, options.onWarning);
  const promote = async (jobId: string): Promise<void> => {
    await (await requestQueue.getJob(jobId))?.promote();
  };
  const isAltered = async (jobId: string): Promise<boolean> => {
    const request = pending.get(jobId);
    const data = await client.hget(requestQueue.toKey(jobId), "data");
    return request !== undefined && data !== null && !isJobOf(request, reply, data);
  };
  const restoreAltered = async (jobId: string): Promise<void> => {
    const request = pending.get(jobId);
    if (request === undefined) return;
    onWarning("Another program has changed jobs of this sync in Redis: they are written anew.");
    const data = JSON.stringify(toPayload(request, { reply, describe: options.describe }));
    await client.eval(setIfExists, 1, requestQueue.toKey(jobId), "data", data);
  };
  const warnOfWorkers = createWorkerWarning(redis, principal, onWarning);
  const detection = detectLostJobs({
    requestQueue,
    responseQueue: responseQueue.queue,
    signal: closing.signal,
    pendingJobIds: () => pending.jobIds,
    onLost: (jobId) => pending.failJob(jobId, "worker-lost", "its worker was lost"),
    onOverdue: (jobId) => void promote(jobId).catch(() => {}),
    isAltered,
    onAltered: (jobId) =>
      void restoreAltered(jobId).catch((error: unknown) => {
        // It is tried again every few seconds.
        if (!closing.signal.aborted)
          onWarning(`A job that another program has changed cannot be written anew: ${messageOf(error)}`);
      }),
    onStatus(status) {
      void backoff.applyQueuePause().catch(() => {});
      void warnOfWorkers(status);
    },
  });
  const isJobCancelled = createCanceller(client, requestQueue);
  const cancel = async (request: PendingRequest, reason: unknown): Promise<void> => {
    if (await isJobCancelled(request.jobId))
      pending.fail(request, "cancelled", "cancelled before it was sent");
    else request.reject(reason);
  };

  let closed: Promise<void> | undefined;
  return {
    send(request) {
      const { signal } = request;
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const abort = () => {
          const removed = pending.removeRequest(request);
          if (removed !== undefined) void cancel(removed, signal?.reason);
        };
        const withoutAbort =
          <Value>(complete: (value: Value) => void) =>
          (value: Value) => {
            signal?.removeEventListener("abort", abort);
            complete(value);
          };
        signal?.addEventListener("abort", abort);
        const completion = { requeueCount: 0, resolve: withoutAbort(resolve), reject: withoutAbort(reject) };
        enqueue(pending.add(request, completion));
      });
    },
    close() {
      watch.stop();
      // In an unreachable Redis, nothing can be removed.
      closed ??= withTimeout(client.status === "ready" ? cleanupMillis : 0, async () => {
        closing.abort();
        await detection;
        await Promise.all([
          heartbeat.end(),
          ...[...pending.jobIds].map((jobId) => requestQueue.remove(jobId)),
        ]);
        await responseQueue.close();
        // The events of jobs outlive them.
        if (options.isPrivate) await requestQueue.trimEvents(0);
        await requestQueue.close();
      }).then(() => {
        // After a timeout, whatever is still open would keep the process alive.
        void responseQueue.close().catch(() => {});
        void heartbeat.end().catch(() => {});
        redis.end();
      });
      return closed;
    },
  };
}

/** A job that has ended meanwhile is not made anew. */
const setIfExists =
  "return redis.call('exists', KEYS[1]) == 1 and redis.call('hset', KEYS[1], ARGV[1], ARGV[2])";

/** Reports why no worker takes the requests. */
function createWorkerWarning(
  { client, shownAs }: RedisConnection,
  principal: Principal,
  onWarning: (text: string) => void,
): (status: QueueStatus) => Promise<void> {
  const areMismatched = cacheFor(workerSearchMillis, () => hasMismatchedWorkers(client, principal));
  return async ({ workerCount, jobs }) => {
    if (workerCount > 0 && jobs === "postponed")
      onWarning(`All workers for ${principal.name} postpone the requests of this sync; their logs say why.`);
    if (workerCount > 0 || jobs !== "waiting") return;
    onWarning(
      (await areMismatched().catch(() => false))
        ? `The workers for ${principal.name} have another credential or version than this sync: give them the same.`
        : `Waiting for a worker for ${principal.name}: run \`armoire worker --redis ${shownAs}\`.`,
    );
  };
}
