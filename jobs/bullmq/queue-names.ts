/**
 * The names of queues and keys in Redis. The queue of requests is named after the principal: workers find the
 * credential for it in their own settings.
 */
import { type Credential, credentialHmac } from "../../src/service/credentials/credential.ts";

/** On whose behalf requests are sent. */
export interface Principal {
  /** `catalogue`, or the name of an account. */
  readonly name: string;
  /** The service that it may be sent to, and no other. */
  readonly baseUrl: string;
  readonly credential: Credential | null;
}

/** Whether it is a person's account. Then no job of its requests stays after its end. */
export const isAccount = (principalName: string): boolean => principalName !== "catalogue";

/** Begins all our keys, beside those of other programs. Keys differ between major versions of BullMQ. */
export const keyPrefix = "armoire:bullmq6";

/** Of the payloads of jobs. Programs of different versions never share a queue. */
export const payloadVersion = 2;

const digestLength = 8;
const separator = "~";

/**
 * The queue of requests, such as `fetch-ada@api.example~v2~0f3a9c2e`. Each service has its own, each version of the payloads,
 * and each credential, which the name contains as a short digest.
 * @param version default: this program's
 */
export function fetchQueueName(principal: Principal, version = payloadVersion): string {
  const { credential } = principal;
  const base = fetchBaseOf(principal);
  const digest = credential === null ? [] : [credentialHmac(credential, base).slice(0, digestLength)];
  return [base, `v${version}`, ...digest].join(separator);
}

/** Whether it is a queue of this principal, with any credential and version. */
export const isFetchQueueOf = (principal: Principal, queue: string): boolean =>
  queue.startsWith(fetchBaseOf(principal) + separator);

/** The queue of runs, such as `sync-catalogue@api.example`. Programs read nothing of its jobs, so it has no version. */
export const runQueueName = (principal: Principal): string => `sync-${placeOf(principal)}`;

const scheduleQueuePrefix = "schedules-";

/** The queue of a mirror's scheduled runs, such as `schedules-catalogue~5c6bb3b50858f8c0`. @param digest of the mirror's place */
export const scheduleQueueName = (area: string, digest: string): string =>
  `${scheduleQueuePrefix}${area}${separator}${digest}`;

export const isScheduleQueue = (queue: string): boolean => queue.startsWith(scheduleQueuePrefix);

/** The service in the name of a queue of requests. */
export function serviceOfQueue(queue: string): string {
  const [base = ""] = queue.split(separator);
  return base.slice(base.indexOf("@") + 1);
}

/** A service as names of queues have it, for people: `http-127.0.0.1-8080` is `http://127.0.0.1:8080`. */
export const readableService = (service: string): string =>
  service.replace(/^http-/, "http://").replace(/-(\d{2,5})$/, ":$1");

/** The principal in the name of a queue of requests; empty for other queues. */
export function principalOfQueue(queue: string): string {
  return /^fetch-([^@]*)@/.exec(queue)?.[1] ?? "";
}

/** Whether it is a queue of requests, for programs with the same payloads. */
export function isOwnFetchQueue(queue: string): boolean {
  const [base = "", version] = queue.split(separator);
  return base.startsWith("fetch-") && version === `v${payloadVersion}`;
}

/** Whether it is a queue of requests for programs with other payloads. */
export const isOfOtherVersion = (queue: string): boolean =>
  queue.startsWith("fetch-") && !isOwnFetchQueue(queue);

const fetchBaseOf = (principal: Principal): string => `fetch-${placeOf(principal)}`;

/** Who, and at which service: `catalogue@api.example`. */
function placeOf({ name, baseUrl }: Principal): string {
  const { protocol, host } = new URL(baseUrl);
  const scheme = protocol === "https:" ? "" : `${protocol.slice(0, -1)}-`;
  // BullMQ forbids only the colon in the name of a queue.
  return `${name}@${scheme}${host.replaceAll(":", "-")}`;
}

const responseQueuePrefix = "responses-";

/** The queue of responses: one for each mirror. @param mirrorKey identifies the mirror, without its path */
export const responseQueueName = (mirrorKey: string): string => responseQueuePrefix + mirrorKey;

export const isResponseQueue = (queue: string): boolean => queue.startsWith(responseQueuePrefix);

const metaKey = new RegExp(`^${keyPrefix}:([^:]+):meta$`);

/** The queue that a key belongs to, for the one hash that BullMQ keeps for each queue; null for other keys. */
export function queueOfKey(key: string): string | null {
  return metaKey.exec(key)?.[1] ?? null;
}

/** Proves that a coordinator has the principal's credential, without revealing it. */
export function credentialProofOf(
  { credential }: Pick<Principal, "credential">,
  coordinatorId: string,
): string {
  return credentialHmac(credential, coordinatorId);
}
