/**
 * Publishes the figures of a run that only its coordinator has, for the dashboard: numbers and the name of the
 * principal; no URL, no path, no secret. Each mirror has one hash in Redis, which expires a month after its last run.
 * A sync never reads it.
 */
import type { Redis } from "ioredis";
import { dayMillis } from "../../src/platform/clock.ts";
import { withTimeout } from "./async.ts";
import { fetchQueueName, keyPrefix, type Principal } from "./queue-names.ts";

export interface RunFigures {
  /** Since the start of this run. */
  readonly requests: { readonly sent: number; readonly counted: number; readonly notModified: number };
  /** `resetAt` in epoch milliseconds; null where unknown. */
  readonly allowance: Record<"limit" | "remaining" | "resetAt", number | null>;
  /** The number of resources in each state. All states each time, since a missing one would keep its old number. */
  readonly frontier: Readonly<Record<string, number>>;
  /** From the arrival of a response to its commit; of the oldest one in the last batch. */
  readonly ingestLagSeconds: number;
}

export interface RunMetrics {
  /** Calls `read` and publishes the figures, at most once a second; otherwise does nothing. */
  update(read: () => RunFigures): void;
  /** @param outcome one word */
  end(outcome: string, figures: RunFigures): Promise<void>;
}

export const stateKeyPrefix = `${keyPrefix}:coordinator-state:`;

const updateMillis = 1000;
/** Reading takes at most a fiftieth of the time. */
const minPauseRatio = 50;
const lifetimeMillis = 30 * dayMillis;
/** At the end of a run, Redis may be unreachable. */
const endTimeoutMillis = 2000;

/** @param mirrorKey identifies the mirror, without its path @param now epoch milliseconds */
export function openRunMetrics(
  client: Redis,
  principal: Principal,
  mirrorKey: string,
  now: () => number,
): RunMetrics {
  const key = stateKeyPrefix + mirrorKey;
  const labels = { principal: principal.name, queue: fetchQueueName(principal) };
  const published = { sent: 0, counted: 0, notModified: 0 };
  let nextUpdateAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;

  const write = async (figures: RunFigures, end: { readonly outcome: string } | null) => {
    const { requests, allowance, frontier, ingestLagSeconds } = figures;
    const commands = client.multi().hset(key, {
      ...labels,
      updatedAt: now(),
      ingestLagSeconds,
      ...Object.fromEntries(Object.entries(frontier).map(([state, count]) => [`frontier:${state}`, count])),
      ...Object.fromEntries(Object.entries(allowance).map(([name, value]) => [name, value ?? ""])),
      ...(end && { endedAt: now(), outcome: end.outcome }),
    });
    // Sums over all runs: a run may start and end between two scrapes.
    for (const name of ["sent", "counted", "notModified"] as const)
      commands.hincrby(key, name, requests[name] - published[name]);
    if (end) commands.hincrby(key, `runs:${end.outcome}`, 1);
    await commands.pexpire(key, lifetimeMillis).exec();
    Object.assign(published, requests);
  };

  return {
    update(read) {
      const startedAt = performance.now();
      if (writing !== null || startedAt < nextUpdateAt) return;
      const figures = read();
      const readAt = performance.now();
      nextUpdateAt = readAt + Math.max(updateMillis, (readAt - startedAt) * minPauseRatio);
      // If Redis is unreachable or full, the next update has these figures too.
      writing = write(figures, null)
        .catch(() => {})
        .finally(() => {
          writing = null;
        });
    },
    async end(outcome, figures) {
      if (client.status !== "ready") return;
      await withTimeout(endTimeoutMillis, async () => {
        // The last figures are relative to those of the previous write.
        await writing;
        await write(figures, { outcome });
      });
    },
  };
}
