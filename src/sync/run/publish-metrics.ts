/** Publishes the figures of a run to Redis for operators: at most once a second, and at its end. */
import type { RunFigures, RunMetrics, RunOutcome } from "../../../jobs/bullmq/run-metrics.ts";
import type { Engine } from "../../../jobs/engine.ts";
import type { JobResult } from "../../../jobs/fetch-job.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { countStates } from "../../mirror/runs/runs.ts";
import type { Clock } from "../../platform/clock.ts";
import type { RunBudget } from "../rate-limit/run-budget.ts";
import type { SyncReport } from "../report.ts";

export interface MetricsPublisher {
  readonly engine: Engine;
  /** @param report null if an error ended the run */
  end(report: SyncReport | null): Promise<void>;
}

interface RunFacts {
  readonly mirror: MirrorReader;
  readonly runBudget: RunBudget;
  readonly clock: Clock;
}

/** @param engine executes the run; its batches show how long results wait to be ingested */
export function publishMetrics(
  state: RunMetrics,
  engine: Engine,
  { mirror, runBudget, clock }: RunFacts,
): MetricsPublisher {
  let ingestLagSeconds = 0;
  const failures: Record<string, number> = {};
  const read = (): RunFigures => {
    const { limit, remaining, resetAt } = runBudget.state;
    const { unanswered } = runBudget;
    const { sent, counted, notModified } = runBudget.counts;
    return {
      // The budget counts unanswered requests, to be safe. Most were never sent.
      requests: { sent, counted: counted - unanswered, notModified, unanswered },
      failures: { ...failures },
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
          for (const code of failuresOf(batch)) failures[code] = (failures[code] ?? 0) + 1;
          yield batch;
          // The caller pulls the next batch once this one is durable.
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
    result.status === "fetched" ? [Date.parse(result.result.fetchedAt)] : [],
  );
  return fetchedAt.length === 0 ? null : Math.max(0, nowMillis - Math.min(...fetchedAt)) / 1000;
}

const failuresOf = (batch: readonly JobResult[]): string[] =>
  batch.flatMap((result) =>
    result.status === "fetched" && result.result.outcome === "failed" ? [result.result.code] : [],
  );

function outcomeOf(report: SyncReport | null): RunOutcome {
  if (report === null) return { outcome: "error", isComplete: false };
  const { complete, stopped, resources } = report;
  const isSpent = stopped === "allowance" || stopped === "budget";
  const hasChecked = resources.new + resources.changed + resources.unchanged > 0;
  return {
    outcome: stopped ?? (complete ? "complete" : "incomplete"),
    isComplete: complete && (stopped === null || (isSpent && hasChecked)),
  };
}
