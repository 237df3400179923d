/** A coordinator's own queue of answers, which workers put them into. In: jobs of workers. Out: answers, one by one. */
import { Queue, type QueueOptions, Worker } from "bullmq";
import { reportOutOfMemory } from "../errors.ts";
import { readResponses, type WireResponse } from "../protocol.ts";

export interface ResponseQueue {
  readonly queue: Queue;
  /** Takes no more answers, and throws away what is left of them. */
  close(): Promise<void>;
}

export interface ResponseQueueOptions {
  readonly name: string;
  readonly connection: Pick<QueueOptions, "connection" | "prefix">;
  readonly onAnswer: (answer: WireResponse) => void;
  readonly onWarning: (text: string) => void;
}

export function openResponseQueue({
  name,
  connection,
  onAnswer,
  onWarning,
}: ResponseQueueOptions): ResponseQueue {
  const queue = new Queue(name, connection);
  const worker = new Worker(
    name,
    async ({ data }) => {
      const read = readResponses(data);
      if ("problem" in read) onWarning(`An answer of a worker was dropped: ${read.problem}.`);
      else for (const answer of read.answers) onAnswer(answer);
    },
    // Whoever reads them is alone, and what was read is done with: no job of it is ever taken up by another.
    { ...connection, skipStalledCheck: true, removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
  );
  // What is wrong with the connection shows in the calls.
  queue.on("error", () => {});
  worker.on("error", reportOutOfMemory(onWarning));
  const close = async (): Promise<void> => {
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
