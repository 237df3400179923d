/** The queues that workers put answers into, one for each coordinator; what comes at the same moment goes together. */
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { type Batcher, createBatcher } from "../async.ts";
import { payloadVersion, type ResponsesPayload, type WireResponse } from "../protocol.ts";
import { keyPrefix } from "../redis.ts";
import { maxRequestsPerJob } from "../timeouts.ts";

export interface ResponseWriter {
  /** Settled once the answer is in the queue, however long Redis is away. */
  put(answersTo: string, answer: WireResponse): Promise<void>;
  close(): Promise<void>;
}

const putTogether = 64;
const againMillis = 1000;

/**
 * @param underWay how many answers are to come, the ones at hand among them
 * @param onFailure told why answers wait
 */
export function openResponseWriter(
  client: Redis,
  underWay: () => number,
  onFailure: (error: unknown) => void,
): ResponseWriter {
  const boxes = new Map<
    string,
    { readonly queue: Queue<ResponsesPayload>; readonly gathered: Batcher<WireResponse> }
  >();

  const open = (answersTo: string) => {
    const queue = new Queue<ResponsesPayload>(answersTo, { connection: client, prefix: keyPrefix });
    queue.on("error", () => {});
    const gathered = createBatcher<WireResponse>({
      most: putTogether,
      // As many as may come any moment.
      worthWaitingFor: () => Math.min(underWay(), maxRequestsPerJob),
      write: (answers) =>
        queue.add(
          "answers",
          { v: payloadVersion, answers: [...answers] },
          { attempts: 1, removeOnComplete: true, removeOnFail: true },
        ),
      onFailure(error) {
        onFailure(error);
        return new Promise((resolve) => setTimeout(resolve, againMillis).unref());
      },
    });
    const box = { queue, gathered };
    boxes.set(answersTo, box);
    return box;
  };

  return {
    put: (answersTo, answer) => (boxes.get(answersTo) ?? open(answersTo)).gathered.add(answer),
    async close() {
      for (const { queue } of boxes.values()) await queue.close();
    },
  };
}
