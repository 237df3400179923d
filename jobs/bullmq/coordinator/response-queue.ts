/** A coordinator's own queue of responses. In: jobs that workers add. Out: responses, one by one. */
import { type Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { reportOutOfMemory } from "../errors.ts";
import { readResponses, type WireResponse } from "../protocol.ts";
import { keyPrefix } from "../queue-names.ts";
import { watchQueue } from "../queue-watch.ts";
import { openQueue } from "../queues.ts";

export interface ResponseQueue {
  readonly queue: Queue;
  /** Accepts no more responses, and removes the queue with those that are left. */
  close(): Promise<void>;
}

export interface ResponseQueueOptions {
  readonly name: string;
  readonly client: Redis;
  readonly onResponse: (response: WireResponse) => void;
  readonly onWarning: (text: string) => void;
}

export function openResponseQueue({
  name,
  client,
  onResponse,
  onWarning,
}: ResponseQueueOptions): ResponseQueue {
  const queue = openQueue(client, name);
  const worker = new Worker(
    name,
    async ({ data }) => {
      const read = readResponses(data);
      if ("problem" in read) onWarning(`A response of a worker was dropped: ${read.problem}.`);
      else for (const response of read.responses) onResponse(response);
    },
    {
      connection: client,
      prefix: keyPrefix,
      // There is only one reader, so no job can be lost to another one.
      skipStalledCheck: true,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  worker.on("error", reportOutOfMemory(onWarning));
  const watch = watchQueue(client, queue, worker, onWarning);
  const close = async (): Promise<void> => {
    watch.stop();
    await worker.close(true);
    await queue.obliterate({ force: true });
    await queue.close();
  };
  let closed: Promise<void> | undefined;
  return {
    queue,
    close() {
      closed ??= close();
      return closed;
    },
  };
}
