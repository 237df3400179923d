import { type IdentifiedUser, identifyUser } from "../accounts/identify-user.ts";
import type { Clock } from "../service/clock.ts";
import type { Credential } from "../service/credentials/credential.ts";
import { openMeteredService } from "./metered-service.ts";

export interface WhoseToken {
  readonly baseUrl: string;
  readonly token: Credential;
  /** The account's own, which the two requests go through. */
  readonly ledgerFile: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** Whose token it is, as the service says: two requests. @throws as `identifyUser` does, LedgerError, ServiceSettingsError */
export async function askWhoseToken(asked: WhoseToken): Promise<IdentifiedUser> {
  const { baseUrl, token, ledgerFile, clock, signal } = asked;
  const metered = { baseUrl, credential: token, ledgerFile, budget: null, keep: 0, connections: 1, clock };
  const { service, close } = openMeteredService(metered);
  return await identifyUser(service, baseUrl, signal).finally(close);
}
