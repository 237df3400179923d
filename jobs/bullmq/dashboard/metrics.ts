/**
 * The metrics of the dashboard. In: the figures of this worker, and a snapshot of Redis. Out: metrics for Prometheus.
 * Pure.
 */
import { serviceOfQueue } from "../queue-names.ts";
import type { RequestCount } from "../worker/request-counts.ts";
import type { Metric, Sample } from "./prometheus-text.ts";
import type { CoordinatorSnapshot } from "./redis-snapshot.ts";

export interface WorkerFigures {
  readonly requests: readonly RequestCount[];
  /** For each principal, whether the worker accepts its jobs. */
  readonly acceptsJobs: Readonly<Record<string, boolean>>;
}

export interface RedisFigures {
  readonly queues: readonly {
    readonly queue: string;
    /** The number of jobs in each state. */
    readonly jobs: Readonly<Record<string, number>>;
  }[];
  readonly coordinators: readonly CoordinatorSnapshot[];
}

/** @param redis null while it does not respond */
export function toMetrics(worker: WorkerFigures, redis: RedisFigures | null): Metric[] {
  const { queues, coordinators } = redis ?? { queues: [], coordinators: [] };
  /** One field of each coordinator that has published it. */
  const field = (name: string, scale = 1): Sample[] =>
    coordinators.flatMap((coordinator) => {
      const text = coordinator.fields[name] ?? "";
      return text === "" ? [] : [{ labels: labelsOf(coordinator), value: Number(text) * scale }];
    });
  return [
    counter(
      "worker_requests_total",
      "Requests that this worker has sent, by status of the response or code of the failure.",
      worker.requests.map(({ principal, outcome, count }) => ({
        labels: { principal, outcome },
        value: count,
      })),
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
      "queue_jobs",
      "Jobs in Redis, by state.",
      queues.flatMap(({ queue, jobs }) =>
        Object.entries(jobs).map(([state, value]) => ({ labels: { queue, state }, value })),
      ),
    ),
    gauge(
      "coordinator_up",
      "Whether a sync of this mirror is running.",
      coordinators.map((coordinator) => ({ labels: labelsOf(coordinator), value: +coordinator.isAlive })),
    ),
    gauge(
      "coordinator_updated_timestamp_seconds",
      "When the sync last published its metrics.",
      field("updatedAt", secondsPerMilli),
    ),
    counter("requests_sent_total", "Requests of all runs of the mirror, retries included.", field("sent")),
    counter("requests_counted_total", "Requests that spent allowance.", field("counted")),
    counter("requests_not_modified_total", "Requests with the response 304.", field("notModified")),
    gauge("allowance_limit", "Requests per window of the allowance.", field("limit")),
    gauge("allowance_remaining", "Requests left in the window.", field("remaining")),
    gauge(
      "allowance_reset_timestamp_seconds",
      "When the window of the allowance ends.",
      field("resetAt", secondsPerMilli),
    ),
    gauge(
      "frontier_resources",
      "Resources of the mirror, by state.",
      fieldGroup(coordinators, "state", "frontier:"),
    ),
    gauge(
      "ingest_lag_seconds",
      "Time from the arrival of a response to its commit in the mirror.",
      field("ingestLagSeconds"),
    ),
    counter(
      "runs_total",
      "Ended runs, by outcome.",
      // From zero on, or the first failed run would be no increase.
      fieldGroup(coordinators, "outcome", "runs:", { "runs:error": "0" }),
    ),
    gauge("run_last_ended_timestamp_seconds", "When the last run ended.", field("endedAt", secondsPerMilli)),
  ];
}

const secondsPerMilli = 1 / 1000;

const metricOf =
  (type: Metric["type"]) =>
  (name: string, help: string, samples: readonly Sample[]): Metric => ({
    name: `armoire_${name}`,
    type,
    help,
    samples,
  });
const counter = metricOf("counter");
const gauge = metricOf("gauge");

/** All fields with a prefix, such as `runs:complete`; the rest of the name becomes the value of a label. */
function fieldGroup(
  coordinators: readonly CoordinatorSnapshot[],
  label: string,
  prefix: string,
  defaults: Readonly<Record<string, string>> = {},
): Sample[] {
  return coordinators.flatMap((coordinator) =>
    Object.entries({ ...defaults, ...coordinator.fields }).flatMap(([field, text]) => {
      if (!field.startsWith(prefix)) return [];
      const labels = { ...labelsOf(coordinator), [label]: field.slice(prefix.length) };
      return [{ labels, value: Number(text) }];
    }),
  );
}

function labelsOf({ mirrorKey, fields: { principal = "", queue = "" } }: CoordinatorSnapshot) {
  return { principal, service: serviceOfQueue(queue), mirror: mirrorKey };
}
