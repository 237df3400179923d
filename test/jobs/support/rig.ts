/** A coordinator's sender and a worker's queue with a real Redis between them, and no service: the test answers. */
import { Queue } from "bullmq";
import { openRedisTransport } from "../../../jobs/bullmq/coordinator/redis-transport.ts";
import { type FetchPayload, toWireResponse } from "../../../jobs/bullmq/protocol.ts";
import { fetchQueueName, type Principal } from "../../../jobs/bullmq/queue-names.ts";
import { connectRedis, keyPrefix } from "../../../jobs/bullmq/redis.ts";
import { startFetchWorker } from "../../../jobs/bullmq/worker/fetch-worker.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import type { Transport } from "../../../src/service/transport/transport.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";

export const principal: Principal = {
  name: "catalogue",
  baseUrl: "https://api.example/",
  credential: null,
};

export const answerOf = (
  body: string | Uint8Array,
  status = 200,
  headers: Record<string, string> = {},
): RawResponse => ({
  head: { status, headers: { "content-type": "application/json", ...headers } },
  wire: typeof body === "string" ? new TextEncoder().encode(body) : body,
  failure: null,
});

export interface BullmqRig extends AsyncDisposable {
  readonly redis: RedisServer;
  /** What either side remarked. */
  readonly remarks: string[];
  readonly fetches: Queue<FetchPayload>;
  coordinate(who?: Principal): Promise<Transport>;
  /** @param send answers an address */
  work(send: (url: string) => Promise<RawResponse>, who?: Principal): Promise<void>;
  /** Puts answers into a coordinator's queue as a worker does. */
  answer(payload: FetchPayload, id: string, exchanged: RawResponse): Promise<void>;
}

export async function startBullmqRig(): Promise<BullmqRig> {
  const redis = await startRedis();
  const remarks: string[] = [];
  const own = await connectRedis(redis.url);
  const connection = { connection: own.client, prefix: keyPrefix };
  const fetches = new Queue<FetchPayload>(fetchQueueName(principal), connection);
  const ends: (() => Promise<void>)[] = [];
  const onWarning = (text: string) => void remarks.push(text);
  let mailboxes = 0;
  return {
    redis,
    remarks,
    fetches,
    async coordinate(who = principal) {
      const sender = await openRedisTransport({
        ...{ redis: await connectRedis(redis.url), principal: who, clock: systemClock, onWarning },
        mailbox: String(++mailboxes),
      });
      ends.push(() => sender.close());
      return sender;
    },
    async work(send, who = principal) {
      const connected = await connectRedis(redis.url);
      const worker = startFetchWorker({
        ...{ redis: connected, principal: who, concurrency: 4, clock: systemClock, onWarning },
        sender: { send: ({ url }) => send(url), close: async () => {} },
      });
      ends.push(async () => {
        await worker.close(0);
        connected.end();
      });
    },
    async answer({ answersTo }, id, exchanged) {
      const queue = new Queue(answersTo, connection);
      await queue.add("answers", { v: 1, answers: [toWireResponse(id, exchanged)] });
      await queue.close();
    },
    async [Symbol.asyncDispose]() {
      for (const end of ends.reverse()) await end();
      await fetches.close();
      own.end();
      await redis[Symbol.asyncDispose]();
    },
  };
}
