/**
 * Detects that a worker must not send the request of its job any more, for one of two reasons. The run is over: its
 * heartbeat is gone, or a later run of the mirror has replaced it. Or the worker has lost the job: it was frozen, or
 * Redis was emptied, and the coordinator has queued the request again; or Redis has restarted with an older state.
 */
import type { Job, Queue } from "bullmq";
import type { Redis } from "ioredis";
import { messageOf } from "../../../src/platform/errors.ts";
import { cacheFor } from "../async.ts";
import { isRunAlive } from "../heartbeat.ts";
import type { FetchPayload } from "../protocol.ts";

/** Long enough for a nearby service to answer several requests, short enough to notice the end of a run. */
const cacheMillis = 10;
const maxCachedRuns = 256;

/** @returns a check for each job; false also while Redis does not respond. `token` is of the worker's lock on the job */
export function createLivenessCheck(
  client: Redis,
  queue: Queue,
  onWarning: (text: string) => void,
): (job: Job, token: string | undefined, payload: FetchPayload) => Promise<boolean> {
  const checks = new Map<string, () => Promise<boolean>>();
  const checkOf = ({ reply }: FetchPayload): (() => Promise<boolean>) => {
    const { coordinatorId } = reply;
    const check =
      checks.get(coordinatorId) ??
      cacheFor(cacheMillis, () => isRunAlive(client, reply.queue, coordinatorId));
    if (checks.size >= maxCachedRuns) checks.clear();
    checks.set(coordinatorId, check);
    return check;
  };
  const holdsLock = async ({ id = "" }: Job, token: string | undefined) =>
    (await client.get(`${queue.toKey(id)}:lock`)) === token;
  return async (job, token, payload) => {
    try {
      if (!(await checkOf(payload)())) {
        // The coordinator renews its heartbeat before it queues the request again, which may be sooner.
        checks.delete(payload.reply.coordinatorId);
        return false;
      }
      // The lock last: the first check may have waited for Redis, and then a run that has become visible has removed its old jobs.
      return await holdsLock(job, token);
    } catch (error) {
      const reason = messageOf(error);
      onWarning(`Cannot read from Redis whether the run is still active, so nothing is sent: ${reason}`);
      return false;
    }
  };
}
