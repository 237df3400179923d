/**
 * Sends requests by way of workers, for a coordinator. In: one request, whose allowance is reserved. Out: its answer,
 * which a worker put into the coordinator's queue of answers. Redis holds only what is under way: whatever is lost there
 * is found out here, and told as a request that got no answer. Everything that has to be decided is decided by the door.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Queue, Worker } from "bullmq";
import type { Clock } from "../../src/service/clock.ts";
import { readPause } from "../../src/service/pause.ts";
import { defaultRetryPolicy } from "../../src/service/retry-policy.ts";
import type { Sender } from "../../src/service/sender.ts";
import { gatherer } from "./gather.ts";
import { mostInJob, pace } from "./pace.ts";
import { type Answer, type FetchPayload, fromAnswer, payloadVersion, readAnswers } from "./payloads.ts";
import { bePresent } from "./presence.ts";
import { fetchQueueName, type Principal, proofOf } from "./principal.ts";
import { keyPrefix, type RedisConnection } from "./redis.ts";
import { type Asked, UnderWay } from "./under-way.ts";
import { watchForLost } from "./watch-for-lost.ts";

export interface QueueSenderOptions {
  readonly redis: RedisConnection;
  readonly principal: Principal;
  /** The same for all runs over a mirror, and no other's: answers that come too late are dropped by the next run. */
  readonly mailbox: string;
  readonly clock: Clock;
  /** Told what the user may want to do something about. */
  readonly onRemark: (text: string) => void;
}

const addedTogether = 256;

/** Jobs that there should be for each worker, so that none is idle while another has several. */
const jobsForEach = 2;
const fewestJobs = 8;
const mostHandedBack = 5;

/** @throws a Redis error where the connection ends meanwhile */
export async function openQueueSender(options: QueueSenderOptions): Promise<Sender> {
  const { redis, principal, mailbox, clock, onRemark } = options;
  const { client, shownAs } = redis;
  const coordinator = randomUUID();
  const answersTo = `answers-${mailbox}`;
  const common = {
    v: payloadVersion,
    coordinator,
    proof: proofOf(principal, coordinator),
    answersTo,
  } as const;
  const connection = { connection: client, prefix: keyPrefix };
  const queue = new Queue<FetchPayload>(fetchQueueName(principal), connection);
  const answersQueue = new Queue(answersTo, connection);
  // What is wrong with the connection shows in the calls.
  for (const one of [queue, answersQueue]) one.on("error", () => {});
  const underWay = new UnderWay(coordinator);
  const closing = new AbortController();
  let workers = 1;
  let jobs = 0;
  const remarked = new Set<string>();
  let closed: Promise<void> | undefined;

  const remarkOnce = (text: string): void => {
    if (!remarked.has(text)) onRemark(text);
    remarked.add(text);
  };
  const toJob = (requests: readonly Asked[]) => {
    const jobId = `${coordinator}.${++jobs}`;
    for (const asked of requests) asked.job = jobId;
    const asked = requests.map(({ id, request: { url, condition } }) => ({
      ...{ id, url, condition: [...condition] },
    }));
    const opts = { jobId, attempts: 1, removeOnComplete: true, removeOnFail: true };
    return { name: "fetch", data: { ...common, requests: asked }, opts };
  };
  const outbox = gatherer<Asked>({
    most: addedTogether,
    // While workers have enough at hand, nobody waits for these few.
    worthWaitingFor: () => (underWay.size >= addedTogether / 8 ? mostInJob : 1),
    async write(waiting) {
      const size = Math.floor(underWay.size / Math.max(fewestJobs, workers * jobsForEach));
      await queue.addBulk(inGroups(waiting, Math.min(Math.max(size, 1), mostInJob)).map(toJob));
    },
    // Redis may be out of memory for a moment: what it holds is to be taken by workers, then there is room again.
    async onFailure(error) {
      onRemark(`Redis takes no more jobs for now: ${error instanceof Error ? error.message : error}`);
      await delay(1000, undefined, { signal: closing.signal });
    },
  });
  const put = (asked: Asked): void => {
    outbox.add(asked).catch((error: unknown) => underWay.take(asked.id)?.reject(error));
  };

  /** What nobody has begun would else wait for as long as the service asked for, and the run with it. */
  const holdBack = async (until: number): Promise<void> => {
    for (const job of underWay.jobs) {
      if (await isRemoved(queue, job))
        underWay.failJob(job, "held-back", "not asked, because the allowance is spent", until);
    }
  };
  /** A pause that the answer to somebody else began is as long for this run. */
  const heedPause = async (): Promise<void> => {
    const pausedMillis = await queue.getRateLimitTtl(1);
    if (pausedMillis > defaultRetryPolicy.maxRetryAfterMillis) await holdBack(clock.now() + pausedMillis);
  };
  const accept = (answer: Answer): void => {
    const asked = underWay.take(answer.id);
    if (asked === undefined) return;
    const { request, handedBack } = asked;
    if (answer.end === "handed-back") {
      if (handedBack === mostHandedBack)
        underWay.fail(asked, "worker-lost", `${handedBack} workers gave it back`);
      else {
        // Redis may have lost that we are here.
        void presence.renew();
        put(underWay.add(request, { ...asked, handedBack: handedBack + 1 }));
      }
      return;
    }
    const exchanged = fromAnswer(answer, request.url);
    asked.resolve(exchanged);
    const until = exchanged.head && readPause(exchanged.head, clock.now());
    if (until !== null && until - clock.now() > defaultRetryPolicy.maxRetryAfterMillis) void holdBack(until);
  };

  const answers = new Worker(
    answersTo,
    async ({ data }) => {
      const read = readAnswers(data);
      if ("problem" in read) onRemark(`An answer of a worker was dropped: ${read.problem}.`);
      else for (const answer of read.answers) accept(answer);
    },
    // Whoever reads them is alone, and what was read is done with: no job of it is ever taken up by another.
    { ...connection, skipStalledCheck: true, removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
  );
  answers.on("error", () => {});
  const presence = await bePresent(client, coordinator);
  const watching = watchForLost({
    ...{ queue, answers: answersQueue, signal: closing.signal },
    jobs: () => underWay.jobs,
    onLost: (job) => underWay.failJob(job, "worker-lost", "the worker that asked it was lost"),
    onLook(look) {
      workers = Math.max(1, look.workers);
      if (look.jobs === "unclaimed") void heedPause().catch(() => {});
      if (look.workers === 0 && look.jobs === "unclaimed")
        remarkOnce(`Waiting for a worker for ${principal.name}: run \`armoire worker --redis ${shownAs}\`.`);
      if (look.workers > 0 && look.jobs === "left")
        remarkOnce(
          `The workers for ${principal.name} leave its requests to others; each says why where it runs.`,
        );
    },
  });

  return {
    send(request) {
      const { signal } = request;
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const abort = () => {
          for (const job of underWay.forget(request)) void isRemoved(queue, job);
          reject(signal?.reason);
        };
        const ending =
          <Value>(end: (value: Value) => void) =>
          (value: Value) => {
            signal?.removeEventListener("abort", abort);
            end(value);
          };
        signal?.addEventListener("abort", abort);
        put(underWay.add(request, { handedBack: 0, resolve: ending(resolve), reject: ending(reject) }));
      });
    },
    close() {
      closed ??= closeWithin(pace.goodbyeMillis, redis, async () => {
        closing.abort();
        await watching;
        await Promise.all([presence.end(), ...[...underWay.jobs].map((job) => isRemoved(queue, job))]);
        await answers.close(true);
        await answersQueue.obliterate({ force: true });
        await Promise.all([queue.close(), answersQueue.close()]);
      });
      return closed;
    },
  };
}

function inGroups<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  );
}

/** Whether the job was still waiting, and now is not. */
async function isRemoved(queue: Queue, id: string): Promise<boolean> {
  return await queue.remove(id).then(
    (removed) => removed === 1,
    () => false,
  );
}

/** Where Redis is away, nothing is left there that could be taken away. */
async function closeWithin(
  millis: number,
  redis: RedisConnection,
  close: () => Promise<void>,
): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, redis.client.status === "ready" ? millis : 0);
  await Promise.race([close().catch(() => {}), isOver]);
  clearTimeout(timer);
  redis.end();
}
