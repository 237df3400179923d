/** The figures of mirrors as metrics. In: what Redis or the mirrors themselves have. Out: metrics for Prometheus. Pure. */
import { counter, gauge, type Metric, type Sample } from "./metric.ts";

export interface MirrorFigures {
  /** `catalogue`, or the name of an account. */
  readonly principal: string;
  /** The host of the service. */
  readonly service: string;
  /** Identifies the mirror, without its path. */
  readonly mirror: string;
  readonly isRunning: boolean;
  /** Times in epoch milliseconds; null if unknown. */
  readonly startedAt: number | null;
  readonly updatedAt: number | null;
  readonly endedAt: number | null;
  /** The end of the last run that left the mirror complete and did all it could. */
  readonly completeAt: number | null;
  /** Of all runs of the mirror. Null if unknown. */
  readonly requests: Readonly<Record<"sent" | "counted" | "notModified" | "unanswered", number | null>>;
  /** Failed fetches, by error code. */
  readonly failures: Readonly<Record<string, number>>;
  /** Ended runs, by outcome. */
  readonly runs: Readonly<Record<string, number>>;
  /** `resetAt` in epoch milliseconds. */
  readonly allowance: Readonly<Record<"limit" | "remaining" | "resetAt", number | null>>;
  /** Resources, by state. */
  readonly resources: Readonly<Record<string, number>>;
  readonly ingestLagSeconds: number | null;
}

/** A counter begins at zero, or its first event would be no increase. */
const noRuns = { complete: 0, error: 0, killed: 0 };

export function toMirrorMetrics(mirrors: readonly MirrorFigures[]): Metric[] {
  const labelsOf = ({ principal, service, mirror }: MirrorFigures) => ({ principal, service, mirror });
  const each = (read: (figures: MirrorFigures) => number | null): Sample[] =>
    mirrors.flatMap((figures) => {
      const value = read(figures);
      return value === null ? [] : [{ labels: labelsOf(figures), value }];
    });
  const times = (read: (figures: MirrorFigures) => number | null) =>
    each((figures) => {
      const millis = read(figures);
      return millis === null ? null : millis / 1000;
    });
  const groups = (label: string, read: (figures: MirrorFigures) => Readonly<Record<string, number>>) =>
    mirrors.flatMap((figures): Sample[] =>
      Object.entries(read(figures)).map(([name, value]) => ({
        labels: { ...labelsOf(figures), [label]: name },
        value,
      })),
    );
  return [
    gauge(
      "coordinator_up",
      "Whether a sync of this mirror is running.",
      each(({ isRunning }) => +isRunning),
    ),
    gauge(
      "coordinator_updated_timestamp_seconds",
      "When the sync last published its metrics.",
      times(({ updatedAt }) => updatedAt),
    ),
    counter(
      "requests_sent_total",
      "Requests of all runs of the mirror, retries included.",
      each(({ requests }) => requests.sent),
    ),
    counter(
      "requests_counted_total",
      "Requests that spent allowance, as far as is known.",
      each(({ requests }) => requests.counted),
    ),
    counter(
      "requests_unanswered_total",
      "Requests without a response: the service may have counted them.",
      each(({ requests }) => requests.unanswered),
    ),
    counter(
      "requests_not_modified_total",
      "Requests with the response 304.",
      each(({ requests }) => requests.notModified),
    ),
    counter(
      "fetch_failures_total",
      "Resources that a run could not fetch, by reason.",
      groups("reason", ({ failures }) => failures),
    ),
    gauge(
      "allowance_limit",
      "Requests per window of the allowance.",
      each(({ allowance }) => allowance.limit),
    ),
    gauge(
      "allowance_remaining",
      "Requests left in the window.",
      each(({ allowance }) => allowance.remaining),
    ),
    gauge(
      "allowance_reset_timestamp_seconds",
      "When the window of the allowance ends.",
      times(({ allowance }) => allowance.resetAt),
    ),
    gauge(
      "frontier_resources",
      "Resources of the mirror, by state.",
      groups("state", ({ resources }) => resources),
    ),
    gauge(
      "ingest_lag_seconds",
      "Time from the arrival of a response to its commit in the mirror.",
      each(({ ingestLagSeconds }) => ingestLagSeconds),
    ),
    counter(
      "runs_total",
      "Ended runs, by outcome; killed: without a report.",
      groups("outcome", ({ runs }) => ({ ...noRuns, ...runs })),
    ),
    gauge(
      "run_last_started_timestamp_seconds",
      "When the last run started.",
      times(({ startedAt }) => startedAt),
    ),
    gauge(
      "run_last_ended_timestamp_seconds",
      "When the last run ended with a report.",
      times(({ endedAt }) => endedAt),
    ),
    gauge(
      "run_last_complete_timestamp_seconds",
      "When a run last left the mirror complete, having checked all it could.",
      times(({ completeAt }) => completeAt),
    ),
  ];
}
