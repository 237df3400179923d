/** Coordinators and workers with a real Redis between them, and without a service: the test gives the responses. */
import { Queue } from "bullmq";
import { openRedisTransport } from "../../../jobs/bullmq/coordinator/redis-transport.ts";
import { type FetchPayload, toWireResponse } from "../../../jobs/bullmq/protocol.ts";
import {
  fetchQueueName,
  keyPrefix,
  type Principal,
  payloadVersion,
} from "../../../jobs/bullmq/queue-names.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { startFetchWorker } from "../../../jobs/bullmq/worker/fetch-worker.ts";
import { type Clock, systemClock } from "../../../src/platform/clock.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import type { Transport } from "../../../src/service/transport/transport.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";

export const principal: Principal = {
  name: "catalogue",
  baseUrl: "https://api.example/",
  credential: null,
};

export const responseOf = (
  body: string | Uint8Array,
  status = 200,
  headers: Record<string, string> = {},
): RawResponse => ({
  head: { status, headers: { "content-type": "application/json", ...headers } },
  wire: typeof body === "string" ? new TextEncoder().encode(body) : body,
  failure: null,
});

/** For a transport without a mirror. */
export const describeAny = () => ({ run: 1, kind: "model", label: null, isFreeIfUnchanged: true });

export interface BullmqRig extends AsyncDisposable {
  readonly redis: RedisServer;
  /** The warnings of all coordinators and workers. */
  readonly warnings: string[];
  readonly requestQueue: Queue<FetchPayload>;
  startCoordinator(as?: Principal): Promise<Transport>;
  /** @param fetch responds to a URL */
  startWorker(fetch: (url: string) => Promise<RawResponse>, as?: Principal, clock?: Clock): Promise<void>;
  /** Puts a response into a coordinator's queue, as a worker does. */
  respond(payload: FetchPayload, response: RawResponse): Promise<void>;
}

export async function startBullmqRig(): Promise<BullmqRig> {
  const redis = await startRedis();
  const warnings: string[] = [];
  const own = await connectRedis(redis.url);
  const connection = { connection: own.client, prefix: keyPrefix };
  const requestQueue = new Queue<FetchPayload>(fetchQueueName(principal), connection);
  const closers: (() => Promise<void>)[] = [];
  const onWarning = (text: string) => void warnings.push(text);
  let mirrors = 0;
  return {
    redis,
    warnings,
    requestQueue,
    async startCoordinator(as = principal) {
      const transport = await openRedisTransport({
        ...{ redis: await connectRedis(redis.url), principal: as, clock: systemClock, onWarning },
        ...{ mirrorKey: String(++mirrors), isPrivate: false, describe: describeAny },
      });
      closers.push(() => transport.close());
      return transport;
    },
    async startWorker(fetch, as = principal, clock = systemClock) {
      const connected = await connectRedis(redis.url);
      const worker = startFetchWorker({
        ...{ redis: connected, principal: as, concurrency: 4, clock, onWarning },
        transport: { send: ({ url }) => fetch(url), close: async () => {} },
      });
      closers.push(async () => {
        await worker.close(0);
        connected.end();
      });
    },
    async respond({ reply }, response) {
      const queue = new Queue(reply.queue, connection);
      await queue.add("responses", { v: payloadVersion, responses: [toWireResponse(reply.id, response)] });
      await queue.close();
    },
    async [Symbol.asyncDispose]() {
      for (const close of closers.reverse()) await close();
      await requestQueue.close();
      own.end();
      await redis[Symbol.asyncDispose]();
    },
  };
}
