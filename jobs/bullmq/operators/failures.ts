/** Failed resources, as the failed jobs of their requests have them: each attempt is a job of its own. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { type Entries, joinEntries, readJobs } from "../entries/read-entries.ts";
import { readFetchPayload } from "../protocol.ts";
import { principalOfQueue } from "../queue-names.ts";

export interface FailedResource {
  readonly principal: string;
  /** Such as `server-error: answered 500`, or `timeout: no response within 30 s`. */
  readonly reason: string;
  /** What the service said; null if it said nothing. */
  readonly message: string | null;
  readonly kind: string;
  /** Such as `Comexim › Lupine`; null if unknown. */
  readonly label: string | null;
  readonly url: string;
  /** Of the mirror. */
  readonly run: number;
  /** Of this resource that have failed, and are still known. */
  readonly attempts: number;
  /** Of the newest attempt, epoch milliseconds. */
  readonly failedAt: number;
}

/** Of each queue. Redis keeps no more. */
const maxFailures = 1000;

/** The newest first. */
export async function readFailures(
  client: Redis,
  queues: readonly Queue[],
): Promise<Entries<FailedResource>> {
  const found = await Promise.all(
    queues.map(async (queue) => {
      const { entries, unreadable } = await readJobs(client, queue, ["failed"], maxFailures);
      const failures = entries.flatMap(({ data, failedReason, finishedOn = 0 }): FailedResource[] => {
        const payload = readFetchPayload(data);
        if ("problem" in payload) return [];
        const { kind, label, url, run } = payload;
        const principal = principalOfQueue(queue.name);
        const [, reason = failedReason ?? "", message = null] =
          /^([^“]*), “(.*)”$/s.exec(failedReason ?? "") ?? [];
        return [
          { ...{ principal, reason, message, kind, label, url, run }, attempts: 1, failedAt: finishedOn },
        ];
      });
      return { entries: failures, unreadable };
    }),
  );
  const { entries, unreadable } = joinEntries(found);
  return { entries: groupByResource(entries), unreadable };
}

function groupByResource(failures: readonly FailedResource[]): FailedResource[] {
  const newestFirst = failures.toSorted((a, b) => b.failedAt - a.failedAt);
  return [...Map.groupBy(newestFirst, ({ principal, url }) => `${principal} ${url}`).values()].flatMap(
    ([newest, ...others]) => (newest === undefined ? [] : [{ ...newest, attempts: 1 + others.length }]),
  );
}
