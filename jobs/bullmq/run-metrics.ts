/**
 * Publishes the figures of a run that only its coordinator has, for the dashboard: numbers and the name of the
 * principal; no URL, no path, no secret. Each mirror has one hash in Redis, which expires a week after its last run.
 * A sync never acts on it.
 */
import type { Redis } from "ioredis";
import { dayMillis } from "../../src/platform/clock.ts";
import { withTimeout } from "./async.ts";
import { fetchQueueName, keyPrefix, type Principal } from "./queue-names.ts";

export interface RunFigures {
  /** Since the start of this run. */
  readonly requests: Readonly<Record<(typeof requestSums)[number], number>>;
  /** Failed fetches since the start of this run, by error code. */
  readonly failures: Readonly<Record<string, number>>;
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
  /** @param end `outcome` is one word; `isComplete`: the mirror is complete, and all that could be checked was */
  end(end: RunOutcome, figures: RunFigures): Promise<void>;
}

export interface RunOutcome {
  readonly outcome: string;
  readonly isComplete: boolean;
}

export const stateKeyPrefix = `${keyPrefix}:coordinator-state:`;

const updateMillis = 1000;
/** Reading takes at most a fiftieth of the time. */
const minPauseRatio = 50;
const lifetimeMillis = 7 * dayMillis;
/** Summed over all runs: a run may start and end between two scrapes. */
const requestSums = ["sent", "counted", "notModified", "unanswered"] as const;
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
  const startedAt = now();
  const published = new Map<string, number>();
  let hasStarted = false;
  let nextUpdateAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;

  /** @returns whether the last run has never ended: its process died, or Redis was unreachable at its end */
  const isLastRunOpen = async (): Promise<boolean> =>
    !hasStarted && (await client.hget(key, "isOpen")) === "1";

  const write = async (figures: RunFigures, end: RunOutcome | null) => {
    const { requests, failures, allowance, frontier, ingestLagSeconds } = figures;
    const wasKilled = await isLastRunOpen();
    const commands = client.multi().hset(key, {
      ...labels,
      startedAt,
      updatedAt: now(),
      isOpen: end === null ? 1 : 0,
      ingestLagSeconds,
      ...Object.fromEntries(Object.entries(frontier).map(([state, count]) => [`frontier:${state}`, count])),
      ...Object.fromEntries(Object.entries(allowance).map(([name, value]) => [name, value ?? ""])),
      ...(end && { endedAt: now() }),
      ...(end?.isComplete && { completeAt: now() }),
    });
    if (wasKilled) commands.hincrby(key, "runs:killed", 1);
    if (end) commands.hincrby(key, `runs:${end.outcome}`, 1);
    const sums = [
      ...requestSums.map((name) => [name, requests[name]] as const),
      ...Object.entries(failures).map(([code, count]) => [`failures:${code}`, count] as const),
    ];
    for (const [name, sum] of sums) commands.hincrby(key, name, sum - (published.get(name) ?? 0));
    await commands.pexpire(key, lifetimeMillis).exec();
    hasStarted = true;
    for (const [name, sum] of sums) published.set(name, sum);
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
    async end(end, figures) {
      if (client.status !== "ready") return;
      await withTimeout(endTimeoutMillis, async () => {
        // The last figures are relative to those of the previous write.
        await writing;
        await write(figures, end);
      });
    },
  };
}
