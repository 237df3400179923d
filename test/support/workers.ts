/** Workers in the test's process, closed at the end of the test. */

import type { DashboardOptions } from "../../jobs/bullmq/dashboard/server.ts";
import type { Principal } from "../../jobs/bullmq/queue-names.ts";
import { type RunWorkerOptions, runWorker } from "../../jobs/bullmq/worker/run-worker.ts";
import type { RedisServer } from "./redis.ts";

export async function startFetchWorkers(
  count: number,
  options: Omit<RunWorkerOptions, "signal" | "onReady">,
): Promise<AsyncDisposable> {
  const stop = new AbortController();
  const ready: Promise<void>[] = [];
  const running = Array.from({ length: count }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ready.push(promise);
    return runWorker({ ...options, signal: stop.signal, onReady: () => resolve() });
  });
  await Promise.race([Promise.all(ready), Promise.all(running)]);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
    },
  };
}

/** The catalogue's principal at a service without credentials. */
export const catalogueAt = (baseUrl: string) => ({ name: "catalogue", baseUrl, credential: null });

/** A worker with a dashboard in the test's process, closed at the end of the test. */
export async function startDashboardWorker(
  redis: RedisServer,
  principals: readonly Principal[],
  options: Partial<DashboardOptions> = {},
  onWarning: (text: string) => void = () => {},
): Promise<AsyncDisposable & { readonly url: string }> {
  const stop = new AbortController();
  const { promise: ready, resolve } = Promise.withResolvers<string>();
  const running = runWorker({
    ...{ redis: redis.url, principals, signal: stop.signal, onWarning },
    dashboard: { port: 0, host: "127.0.0.1", ...options },
    onReady: ({ dashboardUrl }) => resolve(dashboardUrl ?? ""),
  });
  const url = await Promise.race([ready, running.then(() => "")]);
  return {
    url,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
