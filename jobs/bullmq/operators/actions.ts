/**
 * What people may do to queues with Bull Board. In: a request. Out: why it is refused. Only actions that are safe: a coordinator
 * detects paused and removed jobs. Adding or changing jobs would send requests without a permit, and ending a pause early
 * would send them in vain.
 */
import { isOwnFetchQueue } from "../queue-names.ts";

const safeActions =
  /^\/api\/queues\/(?:(?:pause|resume)|[^/]+\/(?:pause|resume|promote|empty|obliterate|clean\/[^/]+)|[^/]+\/[^/]+\/(?:clean|promote))$/;

/** Of a resource's job: its worker sends nothing, and asks the coordinator to plan the resource again. */
const retry = /^\/api\/queues\/([^/]+)\/(?:retry\/failed|[^/]+\/retry)$/;

/** @param path below the board's own */
export function isSafeAction(path: string): boolean {
  const [, retried] = retry.exec(path) ?? [];
  return safeActions.test(path) || (retried !== undefined && isOwnFetchQueue(decodeURIComponent(retried)));
}
