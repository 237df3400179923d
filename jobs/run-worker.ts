import type { RunWorkerOptions, WorkerReady } from "./bullmq/worker/run-worker.ts";

export type { RunWorkerOptions, WorkerReady };

/**
 * Sends requests for syncs that run elsewhere, until it is told to end.
 * @throws RedisError; ServiceSettingsError where a base URL cannot be used; DashboardError
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  // What it stands on is loaded where it is wanted.
  const { runWorker: run } = await import("./bullmq/worker/run-worker.ts");
  await run(options);
}
