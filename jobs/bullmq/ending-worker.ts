import { Worker } from "bullmq";

/** One whose close waits for a Redis that is away goes on renewing locks, which would keep the process from ending. */
export class EndingWorker extends Worker {
  async letGo(): Promise<void> {
    await this.lockManager.close();
  }
}
