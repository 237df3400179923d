/**
 * The metrics of the dashboard. In: the figures of this worker, and a snapshot of Redis. Out: metrics for Prometheus.
 * Pure.
 */
import type { DurationHistogram } from "../../metrics/duration-histogram.ts";
import { counter, gauge, histogram, type Metric } from "../../metrics/metric.ts";
import { type MirrorFigures, toMirrorMetrics } from "../../metrics/mirror-metrics.ts";
import { readNumber } from "../entries/read-entries.ts";
import { principalOfQueue, serviceOfQueue } from "../queue-names.ts";
import type { RequestCount } from "../worker/request-counts.ts";
import type { CoordinatorSnapshot, RedisMemory } from "./redis-snapshot.ts";

export interface WorkerFigures {
  readonly requests: readonly RequestCount[];
  /** How long requests took, by principal. */
  readonly durations: ReadonlyMap<string, DurationHistogram>;
  /** For each principal, whether the worker accepts its jobs. */
  readonly acceptsJobs: Readonly<Record<string, boolean>>;
}

export interface RedisFigures {
  readonly queues: readonly {
    readonly queue: string;
    /** The number of jobs in each state. */
    readonly jobs: Readonly<Record<string, number>>;
    /** When the job that waits longest was added, in epoch milliseconds; null if none waits. */
    readonly oldestJobAt: number | null;
  }[];
  readonly memory: RedisMemory | null;
  readonly coordinators: readonly CoordinatorSnapshot[];
}

/** @param redis null while it does not respond @param now epoch milliseconds */
export function toMetrics(worker: WorkerFigures, redis: RedisFigures | null, now: number): Metric[] {
  const { queues, memory, coordinators } = redis ?? { queues: [], memory: null, coordinators: [] };
  const labelsOf = (queue: string) => ({ queue, principal: principalOfQueue(queue) });
  return [
    counter(
      "worker_requests_total",
      "Requests that this worker has sent, by status of the response or code of the failure.",
      withRefusals(worker).map(({ principal, outcome, count }) => ({
        labels: { principal, outcome },
        value: count,
      })),
    ),
    histogram(
      "worker_request_duration_seconds",
      "How long the requests of this worker took, bodies included.",
      [...worker.durations].flatMap(([principal, durations]) => durations.samples({ principal })),
    ),
    gauge(
      "worker_takes_jobs",
      "Whether this worker accepts jobs.",
      Object.entries(worker.acceptsJobs).map(([principal, accepts]) => ({
        labels: { principal },
        value: +accepts,
      })),
    ),
    gauge("redis_up", "Whether Redis responds.", [{ labels: {}, value: redis === null ? 0 : 1 }]),
    gauge(
      "redis_memory_used_bytes",
      "Memory that Redis uses.",
      memory === null ? [] : [{ labels: {}, value: memory.usedBytes }],
    ),
    gauge(
      "redis_memory_max_bytes",
      "Redis's maxmemory; left out without a limit.",
      memory === null || memory.maxBytes === 0 ? [] : [{ labels: {}, value: memory.maxBytes }],
    ),
    gauge(
      "queue_jobs",
      "Jobs in Redis, by state.",
      queues.flatMap(({ queue, jobs }) =>
        Object.entries(jobs).map(([state, value]) => ({ labels: { ...labelsOf(queue), state }, value })),
      ),
    ),
    gauge(
      "queue_oldest_job_age_seconds",
      "Age of the job that waits longest; 0 if none waits.",
      queues.map(({ queue, oldestJobAt }) => ({
        labels: labelsOf(queue),
        value: oldestJobAt === null ? 0 : Math.max(0, now - oldestJobAt) / 1000,
      })),
    ),
    ...toMirrorMetrics(coordinators.map(toFigures)),
  ];
}

/** Refused credentials are counted from zero on, or the first refusal would be no increase. */
function withRefusals({ requests, durations }: WorkerFigures): RequestCount[] {
  const refused = new Set(
    requests.filter(({ outcome }) => outcome === "401").map(({ principal }) => principal),
  );
  const others = [...durations.keys()].filter((principal) => !refused.has(principal));
  return [...requests, ...others.map((principal) => ({ principal, outcome: "401", count: 0 }))];
}

/** From zero on, or the first failure would be no increase. */
const commonFailures = { "server-error": 0, timeout: 0, "worker-lost": 0 };

function toFigures({ mirrorKey, isAlive, fields }: CoordinatorSnapshot): MirrorFigures {
  const read = (name: string) => readNumber(fields[name]);
  /** All fields with a prefix, such as `runs:complete`, by the rest of their names. */
  const group = (prefix: string): Record<string, number> =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, text]) => {
        const value = name.startsWith(prefix) ? readNumber(text) : null;
        return value === null ? [] : [[name.slice(prefix.length), value]];
      }),
    );
  const runs = group("runs:");
  // The next run counts it for good.
  const isKilled = fields.isOpen === "1" && !isAlive;
  return {
    principal: fields.principal ?? "",
    service: serviceOfQueue(fields.queue ?? ""),
    mirror: mirrorKey,
    isRunning: isAlive,
    startedAt: read("startedAt"),
    updatedAt: read("updatedAt"),
    endedAt: read("endedAt"),
    completeAt: read("completeAt"),
    requests: {
      ...{ sent: read("sent"), counted: read("counted") },
      ...{ notModified: read("notModified"), unanswered: read("unanswered") },
    },
    failures: { ...commonFailures, ...group("failures:") },
    runs: isKilled ? { ...runs, killed: (runs.killed ?? 0) + 1 } : runs,
    allowance: { limit: read("limit"), remaining: read("remaining"), resetAt: read("resetAt") },
    resources: group("frontier:"),
    ingestLagSeconds: read("ingestLagSeconds"),
  };
}
