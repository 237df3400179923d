/**
 * Sends requests by way of workers, for a coordinator. In: one request, whose allowance is reserved. Out: its answer,
 * which a worker put into the coordinator's queue of answers. Redis holds only what is under way: whatever is lost there
 * is found out here, and told as a request that got no answer. Everything that has to be decided is decided by the door.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Queue } from "bullmq";
import type { Clock } from "../../../src/platform/clock.ts";
import type { Transport } from "../../../src/service/transport/transport.ts";
import { cacheFor, warnOnce, withTimeout } from "../async.ts";
import { syncBackoff } from "../backoff.ts";
import { responseQueueName, startHeartbeat } from "../heartbeat.ts";
import { type FetchPayload, fromWireResponse, payloadVersion, type WireResponse } from "../protocol.ts";
import { credentialProofOf, fetchQueueName, type Principal } from "../queue-names.ts";
import { keyPrefix, type RedisConnection } from "../redis.ts";
import { hasMismatchedWorkers } from "../scan-keys.ts";
import { detectLostJobs } from "./lost-jobs.ts";
import { type PendingRequest, PendingRequests } from "./pending-requests.ts";
import { createCanceller, openRequestQueue } from "./request-queue.ts";
import { openResponseQueue } from "./response-queue.ts";

export interface RedisTransportOptions {
  readonly redis: RedisConnection;
  readonly principal: Principal;
  /** The same for all runs over a mirror, and no other's: answers that come too late are dropped by the next run. */
  readonly mailbox: string;
  readonly clock: Clock;
  /** Told what the user may want to do something about. */
  readonly onWarning: (text: string) => void;
}

const mostHandedBack = 5;
const againMillis = 1000;
/** Redis is searched for workers with another credential so often at most. */
const searchedMillis = 30_000;
/** For taking out of Redis what nobody needs any more; what stays there lapses, or the next run drops it. */
const tidyMillis = 2000;

/** @throws RedisError `unsuitable`; a Redis error where the connection ends meanwhile */
export async function openRedisTransport(options: RedisTransportOptions): Promise<Transport> {
  const { redis, principal, mailbox, clock, onWarning } = options;
  const { client, shownAs } = redis;
  const coordinator = randomUUID();
  const answersTo = responseQueueName(mailbox);
  const connection = { connection: client, prefix: keyPrefix };
  const queue = new Queue<FetchPayload>(fetchQueueName(principal), connection);
  queue.on("error", () => {});
  const underWay = new PendingRequests(coordinator);
  const closing = new AbortController();
  const remark = warnOnce(onWarning);
  let workers = 1;
  let closed: Promise<void> | undefined;

  const put = openRequestQueue({
    queue,
    underWay,
    onWarning: remark,
    signal: closing.signal,
    common: { v: payloadVersion, coordinator, proof: credentialProofOf(principal, coordinator), answersTo },
    workers: () => workers,
  });
  const pauses = syncBackoff(client, queue, underWay, clock);
  /** Redis may have lost that we are here: until workers can see it, they would only give it back once more. */
  const putAgain = async (asked: PendingRequest): Promise<void> => {
    for (
      let why = await presence.renew();
      why !== null && underWay.has(asked);
      why = await presence.renew()
    ) {
      remark(`Workers cannot see this sync and send nothing for it; trying again each second: ${why}`);
      await delay(againMillis, undefined, { signal: closing.signal }).catch(() => {});
      if (closing.signal.aborted) return;
    }
    put(asked);
  };
  const accept = (answer: WireResponse): void => {
    const asked = underWay.take(answer.id);
    if (asked === undefined) return;
    const { request, handedBack } = asked;
    if (answer.end === "handed-back") {
      if (handedBack === mostHandedBack)
        underWay.fail(asked, "worker-lost", `${handedBack} workers gave it back`);
      else void putAgain(underWay.add(request, { ...asked, handedBack: handedBack + 1 }));
      return;
    }
    const exchanged = fromWireResponse(answer, request.url);
    asked.resolve(exchanged);
    pauses.heedAnswer(exchanged);
  };

  const presence = await startHeartbeat(redis, answersTo, coordinator);
  const inbox = openResponseQueue({ name: answersTo, connection, onAnswer: accept, onWarning: remark });
  const watching = detectLostJobs({
    queue,
    answers: inbox.queue,
    signal: closing.signal,
    jobs: () => underWay.jobs,
    onLost: (job) => underWay.failJob(job, "worker-lost", "the worker that asked it was lost"),
    onLook(look) {
      workers = Math.max(1, look.workers);
      if (look.jobs === "unclaimed") void pauses.heedQueue().catch(() => {});
      if (look.workers === 0 && look.jobs === "unclaimed") void remarkNobodyIsThere();
      if (look.workers > 0 && look.jobs === "left")
        remark(
          `The workers for ${principal.name} leave its requests to others; each says why where it runs.`,
        );
    },
  });
  const areOthersThere = cacheFor(searchedMillis, () => hasMismatchedWorkers(client, principal));
  const remarkNobodyIsThere = async (): Promise<void> => {
    const areOthers = await areOthersThere().catch(() => false);
    remark(
      areOthers
        ? `The workers for ${principal.name} have another credential or version than this sync: give them the same.`
        : `Waiting for a worker for ${principal.name}: run \`armoire worker --redis ${shownAs}\`.`,
    );
  };
  const isWithdrawn = createCanceller(client, queue);
  const withdraw = async (asked: PendingRequest, reason: unknown): Promise<void> => {
    if (await isWithdrawn(asked.job)) underWay.fail(asked, "cancelled", "not asked after all");
    else asked.reject(reason);
  };

  return {
    send(request) {
      const { signal } = request;
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const abort = () => {
          const asked = underWay.forget(request);
          if (asked !== undefined) void withdraw(asked, signal?.reason);
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
      // Where Redis is away, nothing is left there that could be taken away.
      closed ??= withTimeout(client.status === "ready" ? tidyMillis : 0, async () => {
        closing.abort();
        await watching;
        await Promise.all([presence.end(), ...[...underWay.jobs].map((job) => queue.remove(job))]);
        await inbox.close();
        await queue.close();
      }).then(() => {
        // Where Redis is away, what was not got to above would keep the process.
        void inbox.close().catch(() => {});
        void presence.end().catch(() => {});
        redis.end();
      });
      return closed;
    },
  };
}
