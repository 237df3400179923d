/**
 * A worker of one principal. In: jobs of requests. Out: each request sent once with the worker's own credential, and
 * its response in the queue of the coordinator. It decides no retries, and never opens a mirror.
 */

import { DelayedError, type Job } from "bullmq";
import type { Clock } from "../../../src/platform/clock.ts";
import { messageOf } from "../../../src/platform/errors.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import type { Transport } from "../../../src/service/transport/transport.ts";
import { warnOnce, withTimeout } from "../async.ts";
import { isRejected, reportOutOfMemory, reportRejection } from "../errors.ts";
import { type FetchPayload, type FetchSummary, readFetchPayload, toWireResponse } from "../protocol.ts";
import { credentialProofOf, fetchQueueName, isAccount, keyPrefix, type Principal } from "../queue-names.ts";
import { watchQueue } from "../queue-watch.ts";
import { ForceClosableWorker, openQueue, workerName, workerTimings } from "../queues.ts";
import type { RedisConnection } from "../redis.ts";
import { addRepeatRequest } from "../runs/repeat-requests.ts";
import { openRunQueue } from "../runs/run-queue.ts";
import { type CredentialCheck, checkCredential } from "./credential-check.ts";
import { openResponseWriter } from "./response-writer.ts";
import { createLivenessCheck } from "./run-liveness.ts";
import { nothingSent, summarizeOrThrow } from "./summarize.ts";
import type { LastJob } from "./worker-state.ts";

export interface FetchWorkerOptions {
  readonly redis: RedisConnection;
  readonly principal: Principal;
  /** Sends only to the origin of the principal's base URL. */
  readonly transport: Transport;
  /** Requests running at a time. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly onWarning: (text: string) => void;
  /** @param seconds from sending to the end of the body */
  readonly onResponse?: (response: RawResponse, seconds: number) => void;
}

export interface FetchWorker {
  /** A paused queue gives no jobs even so. */
  readonly acceptsJobs: boolean;
  /** Why its queue gives none; null if it does. */
  readonly queueProblem: string | null;
  readonly credential: Pick<CredentialCheck, "problem" | "isAccepted">;
  /** Null before the first one. */
  readonly lastJob: LastJob | null;
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
  let running = 0;
  let lastJob: LastJob | null = null;
  const closing = new AbortController();
  const onWarning = warnOnce(options.onWarning);
  const reportResponses = reportRejection("responses", onWarning);
  const responses = openResponseWriter(
    client,
    () => running,
    (error) => {
      // Others are of a connection that ends.
      if (isRejected(error)) reportResponses(error);
    },
  );
  const findProblem = createPayloadCheck(principal);
  const credential = checkCredential(client, principal, { onWarning, signal: closing.signal });

  const postpone = async (job: Job, token: string | undefined, reason: string): Promise<never> => {
    onWarning(`A job for ${principal.name} is left to other workers: ${reason}.`);
    await job.moveToDelayed(clock.now() + postponeMillis, token);
    throw new DelayedError();
  };
  /** Null if nothing was sent. */
  const send = async ({ url, condition }: FetchPayload): Promise<RawResponse | null> => {
    const sentAt = performance.now();
    const response = await transport
      .send({ url, condition, signal: closing.signal })
      .catch((error: unknown) => toFailure(error, url));
    // Cancelled by the shutdown before anything was sent.
    if (response.failure?.code === "cancelled") return null;
    credential.apply(response);
    onResponse(response, (performance.now() - sentAt) / 1000);
    return response;
  };
  const isRunAlive = createLivenessCheck(client, queue, onWarning);

  const worker = new ForceClosableWorker(
    queue.name,
    async (job, token) => {
      const payload = readFetchPayload(job.data);
      if ("problem" in payload) return await postpone(job, token, payload.problem);
      const problem = findProblem(payload);
      if (problem !== null) return await postpone(job, token, problem);
      const { reply } = payload;
      // It was retried on the dashboard. Its lease is used up, so the coordinator must plan another request.
      if (job.attemptsMade > 0) {
        await addRepeatRequest(client, reply.queue, payload.url);
        return { ...nothingSent, outcome: "to be planned again" } satisfies FetchSummary;
      }
      const startedAt = performance.now();
      running++;
      try {
        const mayBeSent = (await isRunAlive(job, token, payload)) && !closing.signal.aborted;
        const response = mayBeSent ? await send(payload) : null;
        const milliseconds = Math.round(performance.now() - startedAt);
        const answer =
          response === null
            ? ({ id: reply.id, outcome: "unsent" } as const)
            : toWireResponse(reply.id, response);
        // The job ends once its response is queued. A worker that is killed before leaves the job behind.
        await responses.write(reply.queue, answer);
        return summarizeOrThrow(payload, response, milliseconds, isAccount(principal.name));
      } finally {
        running--;
        const { kind, label } = payload;
        lastJob = { kind, label, at: clock.now() };
      }
    },
    {
      connection: client,
      prefix: keyPrefix,
      ...workerTimings,
      concurrency,
      name: workerName,
      // Nothing of an account goes to other services.
      ...(redis.telemetry && principal.credential?.kind !== "token" && { telemetry: redis.telemetry }),
      // The coordinator decides about the requests of a lost worker, and which jobs stay.
      maxStalledCount: 0,
    },
  );
  worker.on("error", reportOutOfMemory(onWarning));
  const watch = watchQueue(client, queue, worker, options.onWarning);
  // Fails the jobs of runs whose coordinator has ended.
  const runs = openRunQueue(redis, principal);

  return {
    get acceptsJobs() {
      return worker.isRunning() && worker.closing === undefined && watch.problem === null;
    },
    get queueProblem() {
      return watch.problem;
    },
    credential,
    get lastJob() {
      return lastJob;
    },
    async close(timeoutMillis = defaultCloseMillis) {
      watch.stop();
      const timer = setTimeout(() => closing.abort(new Error("the worker was stopped")), timeoutMillis);
      // While Redis is unreachable, nothing can be returned.
      await withTimeout(timeoutMillis + returnMillis, async () => {
        await Promise.all([worker.close(), runs.close()]);
        await responses.close();
        await queue.close();
      });
      clearTimeout(timer);
      closing.abort(new Error("the worker was stopped"));
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
  return ({ url, reply }) => {
    if (reply.credentialProof !== proofFor(reply.coordinatorId))
      return "its sync has another credential than this worker";
    const isOwnOrigin = URL.canParse(url) && new URL(url).origin === origin;
    return isOwnOrigin ? null : `it has a request that is not for ${origin}`;
  };
}

/** The transport rejects only requests that are cancelled while being sent: the service may have counted them. */
function toFailure(error: unknown, url: string): RawResponse {
  const detail = messageOf(error);
  return { head: null, wire: null, failure: new ServiceError("worker-lost", detail, { url }) };
}
