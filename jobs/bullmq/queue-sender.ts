/**
 * Sends requests by way of workers, for a coordinator. In: one request, whose allowance is reserved. Out: its answer,
 * which a worker put into the coordinator's queue of answers. Redis holds only what is under way: whatever is lost there
 * is found out here, and told as a request that got no answer. Everything that has to be decided is decided by the door.
 */
import { randomUUID } from "node:crypto";
import { Queue, Worker } from "bullmq";
import type { Clock } from "../../src/service/clock.ts";
import type { Exchanged } from "../../src/service/exchange.ts";
import { readPause } from "../../src/service/pause.ts";
import { defaultRetryPolicy } from "../../src/service/retry-policy.ts";
import type { Sender, SendRequest } from "../../src/service/sender.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { gatherer } from "./gather.ts";
import { type Answer, type FetchPayload, fromAnswer, payloadVersion, readAnswers } from "./payloads.ts";
import { bePresent } from "./presence.ts";
import { fetchQueueName, type Principal, proofOf } from "./principal.ts";
import { keyPrefix, type RedisConnection } from "./redis.ts";
import { requestIds } from "./request-ids.ts";
import { watchForLost } from "./watch-for-lost.ts";

export interface QueueSenderOptions {
  readonly redis: RedisConnection;
  readonly principal: Principal;
  readonly clock: Clock;
  /** The same for all runs over a mirror, and no other's: answers that come too late are dropped by the next run. */
  readonly mailbox: string;
  /** Told what the user may want to do something about. */
  readonly onRemark: (text: string) => void;
}

interface UnderWay {
  readonly request: SendRequest;
  /** Times that a worker gave it back unsent. */
  readonly handedBack: number;
  readonly resolve: (exchanged: Exchanged) => void;
  readonly reject: (reason: unknown) => void;
}

const addedTogether = 256;
const mostHandedBack = 5;

/** @throws a Redis error where the connection ends meanwhile */
export async function openQueueSender(options: QueueSenderOptions): Promise<Sender> {
  const { redis, principal, mailbox, clock, onRemark } = options;
  const { client } = redis;
  const coordinator = randomUUID();
  const connection = { connection: client, prefix: keyPrefix };
  const queue = new Queue<FetchPayload>(fetchQueueName(principal), connection);
  const answersTo = `answers-${mailbox}`;
  const answersQueue = new Queue(answersTo, connection);
  const nextId = requestIds(coordinator);
  const underWay = new Map<string, UnderWay>();
  const closing = new AbortController();
  const common = { v: payloadVersion, coordinator, proof: proofOf(principal, coordinator), answersTo } as const;

  for (const emitter of [queue, answersQueue]) emitter.on("error", () => {});
  const endPresence = await bePresent(client, coordinator);

  const outbox = gatherer<{ id: string; request: SendRequest }>({
    most: addedTogether,
    write: (items) =>
      queue.addBulk(
        items.map(({ id, request: { url, condition } }) => ({
          name: "fetch",
          data: { ...common, url, condition: [...condition] },
          opts: { jobId: id, attempts: 1, removeOnComplete: true, removeOnFail: true },
        })),
      ),
    // Redis may be out of memory for a moment: its jobs are to be taken, then there is room again.
    async onFailure(error) {
      onRemark(`Redis takes no more jobs for now: ${error instanceof Error ? error.message : error}`);
      await clock.sleep(1000, closing.signal);
    },
  });

  const put = (request: SendRequest, rest: Omit<UnderWay, "request">): string => {
    const id = nextId(request.url);
    underWay.set(id, { request, ...rest });
    outbox.add({ id, request }).catch((error: unknown) => take(id)?.reject(error));
    return id;
  };
  const take = (id: string): UnderWay | undefined => {
    const found = underWay.get(id);
    underWay.delete(id);
    return found;
  };
  const fail = (id: string, code: "worker-lost" | "held-back", happened: string, resumeAt?: number): void => {
    const found = take(id);
    if (found === undefined) return;
    const facts = { url: found.request.url, ...(resumeAt !== undefined && { resumeAt }) };
    found.resolve({ head: null, wire: null, failure: new ServiceError(code, happened, facts) });
  };

  /** What nobody has begun would else wait as long as the service asked for, and the run with it. */
  const holdBack = async (until: number): Promise<void> => {
    const ids = [...underWay.keys()];
    await Promise.all(
      ids.map(async (id) => {
        if (await isRemoved(queue, id)) fail(id, "held-back", "not asked, because the allowance is spent", until);
      }),
    );
  };

  const accept = (answer: Answer): void => {
    // Whose request was given up or lost by now comes too late: another one may stand for it.
    const found = take(answer.id);
    if (found === undefined) return;
    const { request, handedBack } = found;
    if (answer.end !== "handed-back") {
      const exchanged = fromAnswer(answer, request.url);
      found.resolve(exchanged);
      const until = exchanged.head && readPause(exchanged.head, clock.now());
      if (until !== null && until - clock.now() > defaultRetryPolicy.maxRetryAfterMillis) void holdBack(until);
    } else if (handedBack < mostHandedBack) put(request, { ...found, handedBack: handedBack + 1 });
    else {
      const happened = `${handedBack} workers gave it back`;
      const failure = new ServiceError("worker-lost", happened, { url: request.url });
      found.resolve({ head: null, wire: null, failure });
    }
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
  let hasRemarkedIdle = false;
  const watching = watchForLost({
    queue,
    ids: () => underWay.keys(),
    onLost: (id) => fail(id, "worker-lost", "the worker that asked it was lost"),
    onIdle: (workers) => {
      if (workers > 0 || hasRemarkedIdle) return;
      hasRemarkedIdle = true;
      onRemark(`Waiting for a worker for ${principal.name}: run \`armoire worker --redis ${redis.shownAs}\`.`);
    },
    ...{ clock, signal: closing.signal },
  });

  return {
    send(request) {
      const { signal } = request;
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        let isSettled = false;
        const settle =
          <Value>(end: (value: Value) => void) =>
          (value: Value) => {
            isSettled = true;
            signal?.removeEventListener("abort", abort);
            end(value);
          };
        put(request, { handedBack: 0, resolve: settle(resolve), reject: settle(reject) });
        const abort = () => {
          if (isSettled) return;
          for (const [id, { request: asked }] of underWay) {
            if (asked !== request) continue;
            underWay.delete(id);
            void isRemoved(queue, id);
          }
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", abort);
      });
    },
    async close() {
      closing.abort();
      await watching;
      await Promise.all([endPresence(), ...[...underWay.keys()].map((id) => isRemoved(queue, id))]);
      await answers.close(true);
      if (client.status === "ready") await answersQueue.obliterate({ force: true });
      await Promise.all([queue.close(), answersQueue.close()]);
      client.disconnect();
    },
  };
}

/** Whether the job was still waiting, and now is not. */
async function isRemoved(queue: Queue, id: string): Promise<boolean> {
  return await queue.remove(id).then(
    (removed) => removed === 1,
    () => false,
  );
}
