/** How many requests were sent, each minute in which there were any. */
import type { RequestCount } from "../../jobs/bullmq/request-counts.ts";
import type { Clock } from "../service/clock.ts";
import type { Log } from "./log.ts";

const minuteMillis = 60_000;

/** @returns once the signal is aborted */
export async function tellEachMinute(
  read: () => readonly RequestCount[],
  log: Log,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let toldTotal = 0;
  while (!signal.aborted) {
    await clock.sleep(minuteMillis, signal).catch(() => {});
    const total = totalOf(read());
    if (signal.aborted || total === toldTotal) continue;
    const outcomes = sumsByOutcome(read());
    log.info("counts", `${total - toldTotal} requests in a minute; in all ${outcomes.join(", ")}.`, {
      lastMinute: total - toldTotal,
      total,
      outcomes,
    });
    toldTotal = total;
  }
}

export function totalOf(counts: readonly RequestCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function sumsByOutcome(counts: readonly RequestCount[]): string[] {
  const sums = new Map<string, number>();
  for (const { outcome, count } of counts) sums.set(outcome, (sums.get(outcome) ?? 0) + count);
  return [...sums].map(([outcome, count]) => `${outcome}: ${count}`);
}
