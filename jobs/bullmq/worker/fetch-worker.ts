/**
 * A worker of one principal. In: jobs of requests. Out: each request sent once with the worker's own credential, and
 * its response in the queue of the coordinator. It decides no retries, and never opens a mirror.
 */

import { DelayedError, type Job } from "bullmq";
import pLimit from "p-limit";
import type { Clock } from "../../../src/platform/clock.ts";
import { messageOf } from "../../../src/platform/errors.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import type { Transport } from "../../../src/service/transport/transport.ts";
import { warnOnce, withTimeout } from "../async.ts";
import { reportOutOfMemory } from "../errors.ts";
import {
  type FetchPayload,
  readFetchPayload,
  toWireResponse,
  type WireRequest,
  type WireResponse,
} from "../protocol.ts";
import { credentialProofOf, fetchQueueName, keyPrefix, type Principal } from "../queue-names.ts";
import { ForceClosableWorker, openQueue, workerTimings } from "../queues.ts";
import type { RedisConnection } from "../redis.ts";
import { openResponseWriter } from "./response-writer.ts";
import { createLivenessCheck } from "./run-liveness.ts";

export interface FetchWorkerOptions {
  readonly redis: RedisConnection;
  readonly principal: Principal;
  /** Sends only to the origin of the principal's base URL. */
  readonly transport: Transport;
  /** Requests running at a time. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly onWarning: (text: string) => void;
  readonly onResponse?: (response: RawResponse) => void;
}

export interface FetchWorker {
  /** A paused queue gives no jobs even so. */
  readonly acceptsJobs: boolean;
  /** Accepts no more jobs, and cancels running requests after the timeout. Default: 6.5 seconds. */
  close(timeoutMillis?: number): Promise<void>;
}

const defaultCloseMillis = 6_500;
/** For returning cancelled requests. */
const returnMillis = 1_000;
/** The delay of a job that this worker leaves to other workers. */
const postponeMillis = 5_000;

export function startFetchWorker(options: FetchWorkerOptions): FetchWorker {
  const { redis, principal, transport, concurrency, clock, onResponse = () => {} } = options;
  const { client } = redis;
  const queue = openQueue(client, fetchQueueName(principal));
  const limit = pLimit(concurrency);
  const closing = new AbortController();
  const onWarning = warnOnce(options.onWarning);
  const responses = openResponseWriter(client, () => limit.activeCount, reportOutOfMemory(onWarning));
  const findProblem = createPayloadCheck(principal);

  const postpone = async (job: Job, token: string | undefined, reason: string): Promise<never> => {
    onWarning(`A job for ${principal.name} is left to other workers: ${reason}.`);
    await job.moveToDelayed(clock.now() + postponeMillis, token);
    throw new DelayedError();
  };
  const fetchOne = async (
    { id, url, condition }: WireRequest,
    isAlive: () => Promise<boolean>,
  ): Promise<WireResponse> => {
    if (!(await isAlive()) || closing.signal.aborted) return { id, outcome: "unsent" };
    const response = await transport
      .send({ url, condition, signal: closing.signal })
      .catch((error: unknown) => toFailure(error, url));
    // Cancelled by the shutdown before anything was sent.
    if (response.failure?.code === "cancelled") return { id, outcome: "unsent" };
    onResponse(response);
    return toWireResponse(id, response);
  };

  const worker = new ForceClosableWorker(
    queue.name,
    async (job, token) => {
      const payload = readFetchPayload(job.data);
      if ("problem" in payload) return await postpone(job, token, payload.problem);
      const problem = findProblem(payload);
      if (problem !== null) return await postpone(job, token, problem);
      const { requests, responseQueue } = payload;
      worker.concurrency = jobConcurrency(concurrency, requests.length);
      const isAlive = createLivenessCheck(client, queue, job, token, payload, onWarning);
      // The job ends once its responses are queued. A worker that is killed before leaves the job behind.
      await Promise.all(
        requests.map(async (request) => {
          await responses.write(responseQueue, await limit(fetchOne, request, isAlive));
        }),
      );
    },
    {
      connection: client,
      prefix: keyPrefix,
      ...workerTimings,
      concurrency,
      // The coordinator decides about the requests of a lost worker.
      maxStalledCount: 0,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  worker.on("error", reportOutOfMemory(onWarning));

  return {
    get acceptsJobs() {
      return worker.isRunning() && worker.closing === undefined;
    },
    async close(timeoutMillis = defaultCloseMillis) {
      const timer = setTimeout(() => closing.abort(new Error("the worker was stopped")), timeoutMillis);
      // While Redis is unreachable, nothing can be returned.
      await withTimeout(timeoutMillis + returnMillis, async () => {
        await worker.close();
        await responses.close();
        await queue.close();
      });
      clearTimeout(timer);
      await worker.stopTimers();
    },
  };
}

const maxCachedProofs = 256;

/** @returns a check that gives the reason why this worker may not send the requests of a payload, or null */
function createPayloadCheck(principal: Principal): (payload: FetchPayload) => string | null {
  const { origin } = new URL(principal.baseUrl);
  const proofs = new Map<string, string>();
  const proofFor = (coordinatorId: string): string => {
    const proof = proofs.get(coordinatorId) ?? credentialProofOf(principal, coordinatorId);
    if (proofs.size >= maxCachedProofs) proofs.clear();
    proofs.set(coordinatorId, proof);
    return proof;
  };
  return ({ requests, coordinatorId, credentialProof }) => {
    if (credentialProof !== proofFor(coordinatorId))
      return "its sync has another credential than this worker";
    const isOwnOrigin = (url: string) => URL.canParse(url) && new URL(url).origin === origin;
    return requests.every(({ url }) => isOwnOrigin(url))
      ? null
      : `it has a request that is not for ${origin}`;
  };
}

/** As many jobs as make up the running requests, and one more, so that the next requests are at hand. */
function jobConcurrency(concurrency: number, requestsInJob: number): number {
  return requestsInJob <= 1 ? concurrency : Math.ceil(concurrency / requestsInJob) + 1;
}

/** The transport rejects only requests that are cancelled while being sent: the service may have counted them. */
function toFailure(error: unknown, url: string): RawResponse {
  const detail = messageOf(error);
  return { head: null, wire: null, failure: new ServiceError("worker-lost", detail, { url }) };
}
