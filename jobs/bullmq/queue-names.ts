/** On whose behalf requests are sent, and the queue of those. Workers know the name; the credential is in their settings. */
import { type Credential, credentialHmac } from "../../src/service/credentials/credential.ts";

export interface Principal {
  /** `catalogue`, or an account's name. */
  readonly name: string;
  readonly baseUrl: string;
  readonly credential: Credential | null;
}

const markLetters = 8;
/** Between the name and the mark of the credential. */
const beforeMark = "~";

/** Of the requests that wait for a worker: one service's never meet another's, nor a worker with another credential. */
export function fetchQueueName(principal: Principal): string {
  const { credential } = principal;
  const shared = sharedName(principal);
  if (credential === null) return shared;
  return `${shared}${beforeMark}${credentialHmac(credential, shared).slice(0, markLetters)}`;
}

/** Whether it is a queue of this principal, with whatever credential. */
export function isFetchQueueOf(principal: Principal, queue: string): boolean {
  const shared = sharedName(principal);
  return queue === shared || queue.startsWith(shared + beforeMark);
}

/** The service that a queue of requests is of, as the queue's name has it. */
export function serviceOfQueue(queue: string): string {
  const [shared = ""] = queue.split(beforeMark);
  return shared.slice(shared.indexOf("@") + 1);
}

function sharedName({ name, baseUrl }: Principal): string {
  const { protocol, host } = new URL(baseUrl);
  const scheme = protocol === "https:" ? "" : `${protocol.slice(0, -1)}-`;
  // The one character that a queue's name cannot have.
  return `fetch-${name}@${scheme}${host.replaceAll(":", "-")}`;
}

export function credentialProofOf(
  { credential }: Pick<Principal, "credential">,
  coordinator: string,
): string {
  return credentialHmac(credential, coordinator);
}
