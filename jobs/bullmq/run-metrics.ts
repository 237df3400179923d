/**
 * What only a coordinator knows of its run, left in Redis for who watches: numbers and the principal's name; no address of a
 * resource, no path, no secret. A hash for each mirror, which lapses a month after its last run. Nothing is read back by a sync.
 */
import type { Redis } from "ioredis";
import { dayMillis } from "../../src/platform/clock.ts";
import { withTimeout } from "./async.ts";
import { fetchQueueName, type Principal } from "./queue-names.ts";
import { keyPrefix } from "./redis.ts";

export interface RunFigures {
  /** Of this run, till now. */
  readonly requests: { readonly sent: number; readonly counted: number; readonly notModified: number };
  /** `resetAt` in epoch milliseconds; null for what is not known. */
  readonly allowance: Record<"limit" | "remaining" | "resetAt", number | null>;
  /** Resources of the mirror, by state; every state each time, so that none stays as it was. */
  readonly frontier: Readonly<Record<string, number>>;
  /** Between an answer's coming and its being durable in the mirror; of the oldest of the last batch. */
  readonly ingestLagSeconds: number;
}

export interface RunMetrics {
  /** Writes what is read, at most once a second; else nothing is read either. */
  update(read: () => RunFigures): void;
  /** @param outcome one word */
  end(outcome: string, figures: RunFigures): Promise<void>;
}

export const stateKeyPrefix = `${keyPrefix}:coordinator-state:`;

const everyMillis = 1000;
/** And no more than a fiftieth of the time is spent on reading. */
const readsToRest = 50;
const lapsesMillis = 30 * dayMillis;
/** Redis may be away when a run ends: nobody waits for that. */
const patienceMillis = 2000;

/** @param now epoch milliseconds */
export function openRunMetrics(
  client: Redis,
  principal: Principal,
  mailbox: string,
  now: () => number,
): RunMetrics {
  const key = stateKeyPrefix + mailbox;
  const about = { principal: principal.name, queue: fetchQueueName(principal) };
  const told = { sent: 0, counted: 0, notModified: 0 };
  let nextAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;

  const write = async (figures: RunFigures, last: { readonly outcome: string } | null) => {
    const { requests, allowance, frontier, ingestLagSeconds } = figures;
    const all = client.multi().hset(key, {
      ...about,
      updatedAt: now(),
      ingestLagSeconds,
      ...Object.fromEntries(Object.entries(frontier).map(([state, count]) => [`frontier:${state}`, count])),
      ...Object.fromEntries(Object.entries(allowance).map(([name, value]) => [name, value ?? ""])),
      ...(last && { endedAt: now(), outcome: last.outcome }),
    });
    // Sums over all runs, since a run may come and go between two looks.
    for (const name of ["sent", "counted", "notModified"] as const)
      all.hincrby(key, name, requests[name] - told[name]);
    if (last) all.hincrby(key, `runs:${last.outcome}`, 1);
    await all.pexpire(key, lapsesMillis).exec();
    Object.assign(told, requests);
  };

  return {
    update(read) {
      const began = performance.now();
      if (writing !== null || began < nextAt) return;
      const figures = read();
      const ended = performance.now();
      nextAt = ended + Math.max(everyMillis, (ended - began) * readsToRest);
      // Redis is away or full, which stops nothing: the next one tells all of it.
      writing = write(figures, null)
        .catch(() => {})
        .finally(() => {
          writing = null;
        });
    },
    async end(outcome, figures) {
      if (client.status !== "ready") return;
      await withTimeout(patienceMillis, async () => {
        // What it tells is added to what was told before.
        await writing;
        await write(figures, { outcome });
      });
    },
  };
}
