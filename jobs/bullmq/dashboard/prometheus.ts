/** From what a worker and its Redis know to what Prometheus is told. Pure. */
import { serviceOfQueue } from "../queue-names.ts";
import type { RequestCount } from "../worker/request-counts.ts";
import type { CoordinatorSnapshot } from "./redis-snapshot.ts";

export interface WorkerFigures {
  readonly requests: readonly RequestCount[];
  /** Whether it takes jobs, by principal. */
  readonly takes: Readonly<Record<string, boolean>>;
}

export interface QueueFigures {
  readonly queue: string;
  /** Jobs, by state. */
  readonly jobs: Readonly<Record<string, number>>;
}

export interface RedisFigures {
  readonly queues: readonly QueueFigures[];
  readonly coordinators: readonly CoordinatorSnapshot[];
}

/** @param redis null while it does not answer */
export function toMetrics(worker: WorkerFigures, redis: RedisFigures | null): Metric[] {
  const { queues, coordinators } = redis ?? { queues: [], coordinators: [] };
  const counter = (name: string, help: string, samples: Sample[]): Metric => ({
    name: `armoire_${name}`,
    type: "counter",
    help,
    samples,
  });
  const gauge = (name: string, help: string, samples: Sample[]): Metric => ({
    name: `armoire_${name}`,
    type: "gauge",
    help,
    samples,
  });
  /** What one field of each coordinator says, where it says anything. */
  const told = (field: string, scale = 1): Sample[] =>
    coordinators.flatMap(({ mirror, fields }) => {
      const text = fields[field] ?? "";
      return text === "" ? [] : [{ labels: labelsOf(mirror, fields), value: Number(text) * scale }];
    });
  /** What a group of fields says, such as `runs:complete`; those of `always` from the beginning, or their first would be no increase. */
  const toldBy = (label: string, group: string, ...always: readonly string[]): Sample[] =>
    coordinators.flatMap(({ mirror, fields }) =>
      Object.entries({ ...Object.fromEntries(always.map((name) => [name, "0"])), ...fields }).flatMap(
        ([field, text]) => {
          if (!field.startsWith(group)) return [];
          const labels = { ...labelsOf(mirror, fields), [label]: field.slice(group.length) };
          return [{ labels, value: Number(text) }];
        },
      ),
    );
  const toSeconds = 1 / 1000;
  return [
    counter(
      "worker_requests_total",
      "Requests that this worker sent, by the status of the answer or why there was none.",
      worker.requests.map(({ principal, outcome, count }) => ({
        labels: { principal, outcome },
        value: count,
      })),
    ),
    gauge(
      "worker_takes_jobs",
      "Whether this worker takes jobs.",
      Object.entries(worker.takes).map(([principal, takes]) => ({ labels: { principal }, value: +takes })),
    ),
    gauge("redis_up", "Whether Redis answers this worker.", [{ labels: {}, value: redis === null ? 0 : 1 }]),
    gauge(
      "queue_jobs",
      "Jobs in Redis, by state.",
      queues.flatMap(({ queue, jobs }) =>
        Object.entries(jobs).map(([state, value]) => ({ labels: { queue, state }, value })),
      ),
    ),
    gauge(
      "coordinator_up",
      "Whether a sync runs over this mirror.",
      coordinators.map(({ mirror, isPresent, fields }) => ({
        labels: labelsOf(mirror, fields),
        value: +isPresent,
      })),
    ),
    gauge("coordinator_updated_timestamp_seconds", "When it told this.", told("updatedAt", toSeconds)),
    counter("requests_sent_total", "Attempts, of all runs over the mirror.", told("sent")),
    counter("requests_counted_total", "Those that spent allowance.", told("counted")),
    counter("requests_not_modified_total", "Those that found nothing new.", told("notModified")),
    gauge("allowance_limit", "Requests that the service grants in a window.", told("limit")),
    gauge("allowance_remaining", "Requests left of them.", told("remaining")),
    gauge("allowance_reset_timestamp_seconds", "When they are renewed.", told("resetAt", toSeconds)),
    gauge("frontier_resources", "Resources of the mirror, by state.", toldBy("state", "frontier:")),
    gauge(
      "ingest_lag_seconds",
      "From an answer's coming to its being durable in the mirror.",
      told("ingestLagSeconds"),
    ),
    counter("runs_total", "Runs that ended, by how.", toldBy("outcome", "runs:", "runs:error")),
    gauge("run_last_ended_timestamp_seconds", "When the last run ended.", told("endedAt", toSeconds)),
  ];
}

function labelsOf(mirror: string, { principal = "", queue = "" }: Readonly<Record<string, string>>) {
  return { principal, service: serviceOfQueue(queue), mirror };
}

/** Measured values as Prometheus reads them: its text format, version 0.0.4. Pure. */
export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

/** Metrics without a sample are left out. */
export function toPrometheusText(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(
      ({ name, type, help, samples }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map((sample) => lineOf(name, sample)).join("")}`,
    )
    .join("");
}

function lineOf(name: string, { labels, value }: Sample): string {
  const written = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${written.length > 0 ? `{${written.join(",")}}` : ""} ${value}\n`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
