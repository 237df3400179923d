/** The queues that workers put answers into, one for each coordinator; what comes at the same moment goes together. */
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { type Gatherer, gatherer } from "../async.ts";
import { type Answer, type AnswersPayload, payloadVersion } from "../protocol.ts";
import { keyPrefix } from "../redis.ts";
import { mostInJob } from "../timeouts.ts";

export interface AnswerBoxes {
  /** Settled once the answer is in the queue, however long Redis is away. */
  put(answersTo: string, answer: Answer): Promise<void>;
  close(): Promise<void>;
}

const putTogether = 64;
const againMillis = 1000;

/**
 * @param underWay how many answers are to come, the ones at hand among them
 * @param onFailure told why answers wait
 */
export function openAnswerBoxes(
  client: Redis,
  underWay: () => number,
  onFailure: (error: unknown) => void,
): AnswerBoxes {
  const boxes = new Map<
    string,
    { readonly queue: Queue<AnswersPayload>; readonly gathered: Gatherer<Answer> }
  >();

  const open = (answersTo: string) => {
    const queue = new Queue<AnswersPayload>(answersTo, { connection: client, prefix: keyPrefix });
    queue.on("error", () => {});
    const gathered = gatherer<Answer>({
      most: putTogether,
      // As many as may come any moment.
      worthWaitingFor: () => Math.min(underWay(), mostInJob),
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
