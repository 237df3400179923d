import type { Clock } from "../../platform/clock.ts";
import { openServiceClient, type ServiceClient } from "../../service/client.ts";
import type { Credential } from "../../service/credentials/credential.ts";
import type { Transport } from "../../service/transport/transport.ts";
import { createRunBudget, type RunBudget } from "../rate-limit/run-budget.ts";
import { openLedger } from "../rate-limit/store/ledger-store.ts";

export interface RateLimitedClientOptions {
  readonly baseUrl: string;
  readonly credential: Credential | null;
  readonly ledgerFile: string;
  readonly budget: number | null;
  /** Requests of the allowance to leave unspent. */
  readonly reserve: number;
  /** At most so many sockets of this process. */
  readonly connections: number;
  /** Closed with the client, also if that cannot be opened. Default: this process sends. */
  readonly transport?: Transport | null;
  readonly clock: Clock;
}

/** A client and the budget that each of its requests needs a permit from; opened and closed together. */
export interface RateLimitedClient {
  readonly client: ServiceClient;
  readonly runBudget: RunBudget;
  close(): Promise<void>;
}

/** @throws LedgerError, ServiceSettingsError, FileError for the ledger's file */
export async function openRateLimitedClient(options: RateLimitedClientOptions): Promise<RateLimitedClient> {
  try {
    return await open(options);
  } catch (error) {
    await options.transport?.close();
    throw error;
  }
}

async function open(options: RateLimitedClientOptions): Promise<RateLimitedClient> {
  const { baseUrl, credential, ledgerFile, budget, reserve, connections, transport, clock } = options;
  const { href: rootUrl, origin } = new URL(baseUrl);
  const ledger = await openLedger({ file: ledgerFile, principal: { origin, credential } });
  const runBudget = createRunBudget({ ledger, rootUrl, budget, reserve, clock });
  const client = openServiceClient({
    baseUrl,
    credential,
    rateLimiter: runBudget.acquirePermit,
    connections,
    ...(transport && { transport }),
    clock,
  });
  return {
    client,
    runBudget,
    async close() {
      // The client first: requests that are still being sent release their permits.
      await client.close();
      runBudget.close();
    },
  };
}
