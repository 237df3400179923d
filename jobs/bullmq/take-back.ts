import type { Queue } from "bullmq";

/** Whether the job was still waiting, and now is not; where Redis is away, nothing is there that could be taken back. */
export async function takeBack(queue: Queue, id: string): Promise<boolean> {
  return await queue.remove(id).then(
    (removed) => removed === 1,
    () => false,
  );
}
