/** Puts the responses of a worker into the queues of their coordinators. Responses of the same moment share a job. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { type Batcher, createBatcher } from "../async.ts";
import { maxResponsesPerJob, type ResponsesPayload, type WireResponse } from "../protocol.ts";
import { payloadVersion } from "../queue-names.ts";
import { openQueue } from "../queues.ts";

export interface ResponseWriter {
  /** Resolves once the response is in the queue, however long Redis is unreachable. */
  write(responseQueue: string, response: WireResponse): Promise<void>;
  close(): Promise<void>;
}

const maxResponsesPerWrite = 64;
/** Of bodies in base64. Redis and JSON have limits of half a gigabyte, and a coordinator reads a job as a whole. */
const maxCharsPerWrite = 8 * 2 ** 20;
const retryMillis = 1000;

/**
 * @param runningCount the number of responses to expect, including those that are waiting to be written
 * @param onFailure receives the error of each failed write, which is then retried
 */
export function openResponseWriter(
  client: Redis,
  runningCount: () => number,
  onFailure: (error: unknown) => void,
): ResponseWriter {
  interface OpenQueue {
    readonly queue: Queue<ResponsesPayload>;
    readonly batcher: Batcher<WireResponse>;
  }
  const openQueues = new Map<string, OpenQueue>();

  const open = (name: string): OpenQueue => {
    const queue = openQueue<ResponsesPayload>(client, name);
    const batcher = createBatcher<WireResponse>({
      maxItems: maxResponsesPerWrite,
      maxSize: maxCharsPerWrite,
      sizeOf: (response) => (response.outcome === "response" ? response.wire.length : 0),
      targetItems: () => Math.min(runningCount(), maxResponsesPerJob),
      write: (responses) =>
        queue.add(
          "responses",
          { v: payloadVersion, responses: [...responses] },
          { attempts: 1, removeOnComplete: true, removeOnFail: true },
        ),
      onFailure(error) {
        onFailure(error);
        return new Promise((resolve) => setTimeout(resolve, retryMillis).unref());
      },
    });
    const opened = { queue, batcher };
    openQueues.set(name, opened);
    return opened;
  };

  return {
    write: (responseQueue, response) =>
      (openQueues.get(responseQueue) ?? open(responseQueue)).batcher.add(response),
    async close() {
      for (const { queue } of openQueues.values()) await queue.close();
    },
  };
}
