/**
 * Whether a worker has the right credential. In: the responses to its requests, and the queues in Redis. Out: a problem. It
 * sends no request of its own, since that would cost allowance.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import { scanOtherQueues } from "../entries/scan-keys.ts";
import { isOwnFetchQueue, type Principal } from "../queue-names.ts";
import { openQueue } from "../queues.ts";

/**
 * `refused`: the service answers 401, so nothing can be fetched. `unused`: requests wait for workers with another
 * credential, so this one may be wrong.
 */
export type CredentialProblem = "refused" | "unused";

export interface CredentialCheck {
  readonly problem: CredentialProblem | null;
  /** Whether the service has accepted it; null before its first response. */
  readonly isAccepted: boolean | null;
  apply(response: RawResponse): void;
}

const searchMillis = 30_000;

/** @param signal ends the search in Redis */
export function checkCredential(
  client: Redis,
  principal: Principal,
  { onWarning, signal }: { readonly onWarning: (text: string) => void; readonly signal: AbortSignal },
): CredentialCheck {
  const { name } = principal;
  let isAccepted: boolean | null = null;
  let isUnused = false;
  const search = async (): Promise<void> => {
    while (!signal.aborted) {
      isUnused = await hasWaitingRequests(client, principal).catch(() => false);
      if (isUnused)
        onWarning(
          `Requests for ${name} wait for workers with another credential than this worker's. Give it the same.`,
        );
      await delay(searchMillis, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  void search();
  return {
    get problem() {
      if (isAccepted === false) return "refused";
      return isUnused ? "unused" : null;
    },
    get isAccepted() {
      return isAccepted;
    },
    apply({ head }) {
      if (head === null) return;
      isAccepted = head.status !== 401;
      if (!isAccepted)
        onWarning(
          `The service refuses the credential of ${name} (status 401). Correct it, and start this worker again.`,
        );
    },
  };
}

/** In queues of the same version. The dashboard reports those of other versions. */
async function hasWaitingRequests(client: Redis, principal: Principal): Promise<boolean> {
  for await (const name of scanOtherQueues(client, principal)) {
    if (!isOwnFetchQueue(name)) continue;
    const queue = openQueue(client, name, { skipMetasUpdate: true });
    try {
      if ((await queue.getWaitingCount()) > 0 && (await queue.getWorkersCount()) === 0) return true;
    } finally {
      await queue.close();
    }
  }
  return false;
}
