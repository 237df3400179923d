/**
 * A worker of one principal: takes requests from its queue, sends each once with its own credential, and puts the answers
 * into the queue of whoever asked. It decides nothing, retries nothing, and never opens a mirror.
 */
import { DelayedError, type Job, Queue, Worker } from "bullmq";
import pLimit from "p-limit";
import type { Clock } from "../../../src/platform/clock.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import { readBackoffUntil } from "../../../src/service/requests/headers.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import type { Transport } from "../../../src/service/transport/transport.ts";
import { cacheFor, warnOnce, withTimeout } from "../async.ts";
import { reportOutOfMemory } from "../errors.ts";
import { isRunAlive } from "../heartbeat.ts";
import {
  type FetchPayload,
  readFetchPayload,
  toWireResponse,
  type WireRequest,
  type WireResponse,
} from "../protocol.ts";
import { credentialProofOf, fetchQueueName, type Principal } from "../queue-names.ts";
import { keyPrefix, type RedisConnection } from "../redis.ts";
import { timeouts } from "../timeouts.ts";
import { openResponseWriter } from "./response-writer.ts";

export interface FetchWorkerOptions {
  readonly redis: RedisConnection;
  readonly principal: Principal;
  /** What requests are sent with; to the principal's origin only. */
  readonly sender: Transport;
  /** Requests that the sender has under way at a time. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly onWarning: (text: string) => void;
  readonly onAnswer?: (exchanged: RawResponse) => void;
}

export interface FetchWorker {
  /** Whether it takes jobs; a queue that is paused gives it none. */
  readonly takesJobs: boolean;
  /** Takes no more, and gives up what is not finished in time: `pace.goodbyeMillis` unless told. */
  close(patienceMillis?: number): Promise<void>;
}

/** For how long a job that is not for us is left to others. */
const untouchedMillis = 5_000;
const mostProofs = 256;
/** How long requests are taken for wanted: a moment, in which a service nearby answers several. */
const wantedMillis = 10;
/** For handing back what was given up. */
const handBackMillis = 1_000;

export function startFetchWorker(options: FetchWorkerOptions): FetchWorker {
  const { redis, principal, sender, concurrency, clock, onWarning, onAnswer = () => {} } = options;
  const connection = { connection: redis.client, prefix: keyPrefix };
  const name = fetchQueueName(principal);
  const queue = new Queue(name, connection);
  const limit = pLimit(concurrency);
  const { origin } = new URL(principal.baseUrl);
  const ending = new AbortController();
  const remark = warnOnce(onWarning);
  const boxes = openResponseWriter(redis.client, () => limit.activeCount, reportOutOfMemory(remark));

  const isOurs = (url: string) => URL.canParse(url) && new URL(url).origin === origin;
  const proofs = new Map<string, string>();
  const proofFor = (coordinator: string): string => {
    const proof = proofs.get(coordinator) ?? credentialProofOf(principal, coordinator);
    if (proofs.size >= mostProofs) proofs.clear();
    proofs.set(coordinator, proof);
    return proof;
  };
  const leave = async (job: Job, token: string | undefined, why: string): Promise<never> => {
    remark(`A job for ${principal.name} is left to other workers: ${why}.`);
    await job.moveToDelayed(clock.now() + untouchedMillis, token);
    throw new DelayedError();
  };

  const holdAll = async (millis: number): Promise<void> => {
    // A refusal that asks for less does not take back what another one asked for.
    if (millis > Math.max(0, await queue.getRateLimitTtl(1))) await queue.rateLimit(millis);
  };
  /** A worker that was frozen, or a Redis that was emptied, has its requests asked again; so has a run that begins anew. */
  const isStillOurs = async (job: Job, token: string | undefined, asks: FetchPayload): Promise<boolean> => {
    const [holder, isThere] = await Promise.all([
      redis.client.get(`${queue.toKey(job.id ?? "")}:lock`),
      isRunAlive(redis.client, asks.answersTo, asks.coordinator),
    ]).catch((error: Error) => {
      remark(`Redis does not say what is still wanted, so that nothing is sent: ${error.message}`);
      return [];
    });
    return holder === token && isThere === true;
  };
  const answerTo = async (
    { id, url, condition }: WireRequest,
    isWanted: () => Promise<boolean>,
  ): Promise<WireResponse> => {
    if (!(await isWanted()) || ending.signal.aborted) return { id, end: "handed-back" };
    const exchanged = await sender
      .send({ url, condition, signal: ending.signal })
      .catch((error: unknown) => whyNot(error, url));
    // This worker is ending, and has not begun with it.
    if (exchanged.failure?.code === "cancelled") return { id, end: "handed-back" };
    onAnswer(exchanged);
    const until = exchanged.head && readBackoffUntil(exchanged.head, clock.now());
    // All workers wait, whoever was told so. Where Redis is too full to note it, the answer says it to its coordinator.
    if (until !== null) await holdAll(until - clock.now()).catch(() => {});
    return toWireResponse(id, exchanged);
  };

  const worker = new ForceClosableWorker(
    name,
    async (job, token) => {
      const payload = readFetchPayload(job.data);
      if ("problem" in payload) return await leave(job, token, payload.problem);
      const { requests, coordinator, proof, answersTo } = payload;
      if (proof !== proofFor(coordinator))
        return await leave(job, token, "whoever asks has another credential than this worker");
      if (!requests.every(({ url }) => isOurs(url)))
        return await leave(job, token, `its address is not at ${origin}`);
      worker.concurrency = jobsAtATime(concurrency, requests.length);
      const isWanted = cacheFor(wantedMillis, () => isStillOurs(job, token, payload));
      // The job ends when its answers are there: whoever is killed before leaves one of the two behind.
      await Promise.all(
        requests.map(async (request) => {
          await boxes.put(answersTo, await limit(answerTo, request, isWanted));
        }),
      );
    },
    {
      ...connection,
      concurrency,
      maxStalledCount: 0,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      lockDuration: timeouts.lockMillis,
      stalledInterval: timeouts.stalledMillis,
      runRetryDelay: 1000,
      // Without limits of its own, a worker would not look whether there is a pause.
      limiter: { max: Number.MAX_SAFE_INTEGER - 1, duration: 1000 },
    },
  );
  worker.on("error", reportOutOfMemory(remark));
  queue.on("error", () => {});

  return {
    get takesJobs() {
      return worker.isRunning() && worker.closing === undefined;
    },
    async close(patienceMillis = timeouts.goodbyeMillis) {
      const giveUp = setTimeout(() => ending.abort(new Error("the worker was asked to end")), patienceMillis);
      // Where Redis is away there is nobody to hand anything back to.
      await withTimeout(patienceMillis + handBackMillis, async () => {
        await worker.close();
        await boxes.close();
        await queue.close();
      });
      clearTimeout(giveUp);
      await worker.letGo();
    },
  };
}

/** As many jobs as make up the requests, and one more, so that the next ones are at hand. */
function jobsAtATime(concurrency: number, requestsInJob: number): number {
  return requestsInJob <= 1 ? concurrency : Math.ceil(concurrency / requestsInJob) + 1;
}

/** A sender rejects only where it is told to end and has begun; whether the service has counted the request is then unknown. */
function whyNot(error: unknown, url: string): RawResponse {
  const detail = error instanceof Error ? error.message : String(error);
  return { head: null, wire: null, failure: new ServiceError("worker-lost", detail, { url }) };
}

/** One whose close waits for a Redis that is away goes on renewing locks, which would keep the process from ending. */
export class ForceClosableWorker extends Worker {
  async letGo(): Promise<void> {
    await this.lockManager.close();
  }
}
