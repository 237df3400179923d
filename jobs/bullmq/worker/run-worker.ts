/** A worker process: sends requests for the principals whose credentials it has, until it is told to end. */
import { once } from "node:events";
import { systemClock } from "../../../src/platform/clock.ts";
import { defaultLimits } from "../../../src/service/transport/pool.ts";
import { openTransport, serviceHeaders, type Transport } from "../../../src/service/transport/transport.ts";
import type { Dashboard, DashboardOptions } from "../dashboard/server.ts";
import type { Principal } from "../queue-names.ts";
import { connectRedis } from "../redis.ts";
import { type FetchWorker, startFetchWorker } from "./fetch-worker.ts";
import { type RequestCount, RequestCounts } from "./request-counts.ts";

export interface RunWorkerOptions {
  /** The address of Redis: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  /** On whose behalf it sends. */
  readonly principals: readonly Principal[];
  /** Requests under way at a time, for each principal; 8 unless told. */
  readonly concurrency?: number;
  /** Pages, health and figures for whoever watches; none unless told. */
  readonly dashboard?: DashboardOptions | null;
  /** Ends it: what is under way is finished or handed back within ten seconds. */
  readonly signal: AbortSignal;
  /** Called once it takes requests, with how to read what it has sent. */
  readonly onReady?: (ready: WorkerReady) => void;
  /** Told what somebody may want to do something about. */
  readonly onWarning?: (text: string) => void;
}

export interface WorkerReady {
  readonly requests: () => readonly RequestCount[];
  /** Where the dashboard is; null without one. */
  readonly dashboardUrl: string | null;
}

/** @throws RedisError; ServiceSettingsError where a base URL cannot be used; DashboardError */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const { principals, concurrency = 8, signal, onReady = () => {}, onWarning = () => {} } = options;
  const redis = await connectRedis(options.redis, onWarning);
  const counts = new RequestCounts();
  const running = new Map<string, { readonly sender: Transport; readonly worker: FetchWorker }>();
  const seen = () => ({
    requests: counts.all,
    takes: Object.fromEntries(
      principals.map(({ name }) => [name, running.get(name)?.worker.takesJobs === true]),
    ),
  });
  let dashboard: Dashboard | null = null;
  try {
    // Loaded where it is wanted: a worker alone needs no pages. First, so that where it cannot be nothing was taken.
    dashboard = options.dashboard
      ? await (await import("../dashboard/server.ts")).startDashboard(redis, seen, options.dashboard)
      : null;
    for (const principal of principals) {
      const { origin } = new URL(principal.baseUrl);
      const headers = serviceHeaders(principal.credential, "armoire");
      const sender = openTransport(origin, headers, defaultLimits, { connections: concurrency });
      const worker = startFetchWorker({
        redis,
        principal,
        sender,
        concurrency,
        clock: systemClock,
        onWarning,
        onAnswer: (exchanged) => counts.add(principal.name, exchanged),
      });
      running.set(principal.name, { sender, worker });
    }
    onReady({ requests: () => counts.all, dashboardUrl: dashboard?.url ?? null });
    if (!signal.aborted) await once(signal, "abort");
    await Promise.all(
      [...running.values()].map(async ({ sender, worker }) => {
        await worker.close();
        await sender.close();
      }),
    );
  } finally {
    await dashboard?.close();
    redis.end();
  }
}
