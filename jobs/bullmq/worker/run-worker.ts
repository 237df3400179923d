/** A worker process: sends the requests of syncs that run elsewhere, for the principals whose credentials it has. */
import { once } from "node:events";
import type { Redis } from "ioredis";
import { systemClock } from "../../../src/platform/clock.ts";
import { requireWholeNumbers } from "../../../src/platform/errors.ts";
import { readOriginOrThrow } from "../../../src/service/same-origin.ts";
import { defaultLimits } from "../../../src/service/transport/pool.ts";
import { openServiceTransport, type Transport } from "../../../src/service/transport/transport.ts";
import type { Dashboard, DashboardOptions } from "../dashboard/server.ts";
import type { Principal } from "../queue-names.ts";
import type { FetchWorker } from "./fetch-worker.ts";
import { type RequestCount, RequestCounts } from "./request-counts.ts";
import type { CredentialState } from "./worker-state.ts";

export interface RunWorkerOptions {
  /** The address of Redis: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  /** On whose behalf it sends. */
  readonly principals: readonly Principal[];
  /** Requests running at a time, for each principal. Default: 8. */
  readonly concurrency?: number;
  /** Makes a span of each job of the catalogue. Needs `bullmq-otel`, and an OpenTelemetry SDK. Default: false. */
  readonly telemetry?: boolean;
  /** Serves pages, health and metrics. Default: none. */
  readonly dashboard?: DashboardOptions | null;
  /** Stops the worker: within ten seconds, running requests are finished or returned to their queue. */
  readonly signal: AbortSignal;
  /** Called once it accepts requests. */
  readonly onReady?: (ready: WorkerReady) => void;
  /** Receives problems that an operator may need to act on. */
  readonly onWarning?: (text: string) => void;
  /** Called every few seconds while Redis responds and all principals' jobs are accepted, with accepted credentials. */
  readonly onHealthy?: () => void;
}

export interface WorkerReady {
  /** The current counts of sent requests. */
  readonly requests: () => readonly RequestCount[];
  /** Null without a dashboard. */
  readonly dashboardUrl: string | null;
}

/**
 * Sends the requests that coordinators queue in Redis. Resolves once `signal` is aborted and the worker has stopped.
 * @throws RedisError; TelemetryError; ServiceSettingsError for an invalid base URL; DashboardError
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const { principals, concurrency = 8, signal, onReady = () => {}, onWarning = () => {} } = options;
  requireWholeNumbers(1, { concurrency });
  // Loaded only when needed: the library exports this function, and most programs never call it.
  const [{ connectRedis }, { startFetchWorker }, { publishWorker }, { loadTelemetry }] = await Promise.all([
    import("../redis.ts"),
    import("./fetch-worker.ts"),
    import("./worker-state.ts"),
    import("../queues.ts"),
  ]);
  const telemetry = options.telemetry ? await loadTelemetry() : undefined;
  const redis = { ...(await connectRedis(options.redis, onWarning)), telemetry };
  const counts = new RequestCounts(principals.map(({ name }) => name));
  const running = new Map<string, { readonly transport: Transport; readonly worker: FetchWorker }>();
  const readFigures = () => ({
    requests: counts.all,
    durations: counts.durations,
    acceptsJobs: Object.fromEntries(
      principals.map(({ name }) => [name, running.get(name)?.worker.acceptsJobs === true]),
    ),
    queueProblems: principals.flatMap(({ name }) => running.get(name)?.worker.queueProblem ?? []),
    credentialProblems: Object.fromEntries(
      principals.map(({ name }) => [name, running.get(name)?.worker.credential.problem ?? null]),
    ),
  });
  let dashboard: Dashboard | null = null;
  let stopChecks = () => {};
  let withdraw = async () => {};
  try {
    // Started first: if it cannot listen, the worker has accepted no jobs.
    dashboard = options.dashboard
      ? await (await import("../dashboard/server.ts")).startDashboard(redis, readFigures, options.dashboard)
      : null;
    for (const principal of principals) {
      const { credential, baseUrl } = principal;
      const transport = openServiceTransport(readOriginOrThrow(baseUrl), {
        credential,
        limits: defaultLimits,
        connections: concurrency,
      });
      const worker = startFetchWorker({
        redis,
        principal,
        transport,
        concurrency,
        clock: systemClock,
        onWarning,
        onResponse: (response, seconds) => counts.add(principal.name, response, seconds),
      });
      running.set(principal.name, { transport, worker });
    }
    onReady({ requests: () => counts.all, dashboardUrl: dashboard?.url ?? null });
    withdraw = publishWorker(redis.client, systemClock.now(), () =>
      principals.flatMap((principal) => {
        const worker = running.get(principal.name)?.worker;
        return worker === undefined ? [] : [describe(principal, worker, counts.sentFor(principal.name))];
      }),
    );
    stopChecks = checkHealth(redis.client, readFigures, options.onHealthy);
    if (!signal.aborted) await once(signal, "abort");
    await Promise.all(
      [...running.values()].map(async ({ transport, worker }) => {
        await worker.close();
        await transport.close();
      }),
    );
  } finally {
    stopChecks();
    await withdraw();
    await dashboard?.close();
    redis.end();
  }
}

function describe({ name, baseUrl, credential }: Principal, worker: FetchWorker, sent: number) {
  const { acceptsJobs, lastJob } = worker;
  const { problem, isAccepted } = worker.credential;
  const known: CredentialState = isAccepted === true ? "accepted" : "unknown";
  const state = credential === null ? "none" : (problem ?? known);
  const { protocol, host, origin } = new URL(baseUrl);
  const service = protocol === "https:" ? host : origin;
  return { name, service, acceptsJobs, credential: state, lastJob, sent } as const;
}

const checkMillis = 5_000;

/** @returns a function that stops it */
function checkHealth(
  client: Redis,
  readFigures: () => {
    readonly acceptsJobs: Readonly<Record<string, boolean>>;
    readonly credentialProblems: Readonly<Record<string, string | null>>;
  },
  onHealthy = () => {},
): () => void {
  const check = async (): Promise<void> => {
    const { acceptsJobs, credentialProblems } = readFigures();
    const isWorking = Object.values(acceptsJobs).every(Boolean);
    const isAccepted = Object.values(credentialProblems).every((problem) => problem === null);
    if (!isWorking || !isAccepted || client.status !== "ready") return;
    // A Redis that does not respond leaves this pending.
    await client.ping().then(onHealthy, () => {});
  };
  void check();
  const timer = setInterval(() => void check(), checkMillis).unref();
  return () => clearInterval(timer);
}
