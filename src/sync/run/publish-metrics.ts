/** What an operator may see of a run while workers carry it out: told once a second at most, and when the run ends. */
import type { RunFigures, RunMetrics } from "../../../jobs/bullmq/run-metrics.ts";
import type { Engine } from "../../../jobs/engine.ts";
import type { JobResult } from "../../../jobs/fetch-job.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { countStates } from "../../mirror/runs/runs.ts";
import type { Clock } from "../../platform/clock.ts";
import type { RunBudget } from "../rate-limit/run-budget.ts";
import type { SyncReport } from "../report.ts";

export interface MetricsPublisher {
  readonly engine: Engine;
  /** @param report null where an error ended the run */
  end(report: SyncReport | null): Promise<void>;
}

interface RunFacts {
  readonly mirror: MirrorReader;
  readonly allowance: RunBudget;
  readonly clock: Clock;
}

/** @param engine what the run is carried out by; its batches show how long answers wait to be ingested */
export function publishMetrics(
  state: RunMetrics,
  engine: Engine,
  { mirror, allowance, clock }: RunFacts,
): MetricsPublisher {
  let ingestLagSeconds = 0;
  const read = (): RunFigures => {
    const { limit, remaining, resetAt } = allowance.state;
    const { sent, counted, notModified } = allowance.counts;
    return {
      requests: { sent, counted, notModified },
      allowance: { limit, remaining, resetAt },
      frontier: countStates(mirror.db),
      ingestLagSeconds,
    };
  };
  return {
    engine: {
      async *run(source, signal) {
        state.update(read);
        for await (const batch of engine.run(source, signal)) {
          yield batch;
          // Whoever takes the batch asks for the next one when it is durable.
          ingestLagSeconds = longestWait(batch, clock.now()) ?? ingestLagSeconds;
          state.update(read);
        }
      },
    },
    end: (report) => state.end(outcomeOf(report), read()),
  };
}

function longestWait(batch: readonly JobResult[], nowMillis: number): number | null {
  const fetchedAt = batch.flatMap((result) =>
    result.end === "fetched" ? [Date.parse(result.result.fetchedAt)] : [],
  );
  return fetchedAt.length === 0 ? null : Math.max(0, nowMillis - Math.min(...fetchedAt)) / 1000;
}

function outcomeOf(report: SyncReport | null): string {
  if (report === null) return "error";
  return report.stopped ?? (report.complete ? "complete" : "incomplete");
}
