/**
 * Detects that a worker must not send the requests of its job any more, for one of two reasons. The run is over: its
 * heartbeat is gone, or a later run of the mirror has replaced it. Or the worker has lost the job: it was frozen, or
 * Redis was emptied, and the coordinator has queued the requests again.
 */

import type { Job, Queue } from "bullmq";
import type { Redis } from "ioredis";
import { messageOf } from "../../../src/platform/errors.ts";
import { cacheFor } from "../async.ts";
import { isRunAlive } from "../heartbeat.ts";
import type { FetchPayload } from "../protocol.ts";

/** Long enough for a nearby service to answer several requests, short enough to notice the end of a run. */
const cacheMillis = 10;

/**
 * @param token of the worker's lock on the job
 * @returns a check for each request of the job; false also while Redis does not respond
 */
export function createLivenessCheck(
  client: Redis,
  queue: Queue,
  { id = "" }: Job,
  token: string | undefined,
  { responseQueue, coordinatorId }: FetchPayload,
  onWarning: (text: string) => void,
): () => Promise<boolean> {
  return cacheFor(cacheMillis, async () => {
    try {
      const [lockToken, isAlive] = await Promise.all([
        client.get(`${queue.toKey(id)}:lock`),
        isRunAlive(client, responseQueue, coordinatorId),
      ]);
      return lockToken === token && isAlive;
    } catch (error) {
      const reason = messageOf(error);
      onWarning(`Cannot read from Redis whether the run is still active, so nothing is sent: ${reason}`);
      return false;
    }
  });
}
