import type { Clock } from "../../platform/clock.ts";
import { openServiceClient, type ServiceClient } from "../../service/client.ts";
import type { Credential } from "../../service/credentials/credential.ts";
import type { Transport } from "../../service/transport/transport.ts";
import { openLedger } from "../rate-limit/ledger.ts";
import { createRunBudget, type RunBudget } from "../rate-limit/run-budget.ts";

export interface RateLimitedClientOptions {
  readonly baseUrl: string;
  readonly credential: Credential | null;
  readonly ledgerFile: string;
  readonly budget: number | null;
  /** Requests of the allowance to leave for others. */
  readonly keep: number;
  /** Sockets at most, where this process sends. */
  readonly connections: number;
  /** Null where this process sends. */
  readonly sender?: Transport | null;
  readonly clock: Clock;
}

/** The door, and the allowance that each of its requests is reserved from; opened and closed together. */
export interface RateLimitedClient {
  readonly service: ServiceClient;
  readonly allowance: RunBudget;
  close(): Promise<void>;
}

/** @throws LedgerError, ServiceSettingsError */
export function openRateLimitedClient(options: RateLimitedClientOptions): RateLimitedClient {
  const { baseUrl, credential, ledgerFile, budget, keep, connections, sender = null, clock } = options;
  const { href: rootUrl, origin } = new URL(baseUrl);
  const ledger = openLedger({ file: ledgerFile, principal: { origin, credential } });
  const allowance = createRunBudget({ ledger, rootUrl, budget, keep, clock });
  const service = openServiceClient({
    baseUrl,
    credential,
    rateLimiter: allowance.reserve,
    connections,
    ...(sender && { transport: sender }),
    clock,
  });
  return {
    service,
    allowance,
    async close() {
      // First what is still being sent, so that it is settled.
      await service.close();
      allowance.close();
    },
  };
}
