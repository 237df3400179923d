/** On whose behalf requests are sent, and the queue of those. Workers know the name; the credential is in their settings. */

import type { Credential } from "../../src/service/credential.ts";
import { proveCredential } from "../../src/service/credential-digest.ts";

export interface Principal {
  /** `catalogue`, or an account's name. */
  readonly name: string;
  readonly baseUrl: string;
  readonly credential: Credential | null;
}

/** Of the requests that wait for a worker. One service's never meet another's. */
export function fetchQueueName({ name, baseUrl }: Pick<Principal, "name" | "baseUrl">): string {
  const { protocol, host } = new URL(baseUrl);
  const scheme = protocol === "https:" ? "" : `${protocol.slice(0, -1)}-`;
  // The one character that a queue's name cannot have.
  return `fetch-${name}@${scheme}${host.replaceAll(":", "-")}`;
}

export function proofOf({ credential }: Pick<Principal, "credential">, coordinator: string): string {
  return proveCredential(credential, coordinator);
}
