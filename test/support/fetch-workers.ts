/** Workers in the test's process, closed at the end of the test. */
import { type RunWorkerOptions, runWorker } from "../../jobs/bullmq/worker/run-worker.ts";

export async function startFetchWorkers(
  count: number,
  options: Omit<RunWorkerOptions, "signal" | "onReady">,
): Promise<AsyncDisposable> {
  const ending = new AbortController();
  const ready: Promise<void>[] = [];
  const running = Array.from({ length: count }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ready.push(promise);
    return runWorker({ ...options, signal: ending.signal, onReady: () => resolve() });
  });
  await Promise.race([Promise.all(ready), Promise.all(running)]);
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(running);
    },
  };
}

/** The catalogue's principal at a service without credentials. */
export const catalogueAt = (baseUrl: string) => ({ name: "catalogue", baseUrl, credential: null });
