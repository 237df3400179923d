import type { Clock } from "../../platform/clock.ts";
import { openService, type Service } from "../../service/client.ts";
import type { Credential } from "../../service/credentials/credential.ts";
import type { Sender } from "../../service/transport/transport.ts";
import { openLedger } from "../rate-limit/ledger.ts";
import { createRunAllowance, type RunAllowance } from "../rate-limit/run-budget.ts";

export interface MeteredServiceOptions {
  readonly baseUrl: string;
  readonly credential: Credential | null;
  readonly ledgerFile: string;
  readonly budget: number | null;
  /** Requests of the allowance to leave for others. */
  readonly keep: number;
  /** Sockets at most, where this process sends. */
  readonly connections: number;
  /** Null where this process sends. */
  readonly sender?: Sender | null;
  readonly clock: Clock;
}

/** The door, and the allowance that each of its requests is reserved from; opened and closed together. */
export interface MeteredService {
  readonly service: Service;
  readonly allowance: RunAllowance;
  close(): Promise<void>;
}

/** @throws LedgerError, ServiceSettingsError */
export function openMeteredService(options: MeteredServiceOptions): MeteredService {
  const { baseUrl, credential, ledgerFile, budget, keep, connections, sender = null, clock } = options;
  const { href: rootUrl, origin } = new URL(baseUrl);
  const ledger = openLedger({ file: ledgerFile, principal: { origin, credential } });
  const allowance = createRunAllowance({ ledger, rootUrl, budget, keep, clock });
  const service = openService({
    baseUrl,
    credential,
    reserve: allowance.reserve,
    connections,
    ...(sender && { sender }),
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
