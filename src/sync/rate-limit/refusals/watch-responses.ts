/**
 * Notices when nothing is answered any more in a way that can be used: an allowance may be spent, or a service be down, in any
 * form. In: the client. Out: the same client. After several such responses in a row, it requests something that is held; if
 * that is not answered either, every further one says so, and the run ends with everything due.
 */

import { prepare } from "../../../mirror/file/statements.ts";
import { q } from "../../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../../mirror/reader.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { FetchRequest, ServiceClient } from "../../../service/client.ts";
import { ServiceError, type ServiceErrorCode } from "../../../service/errors.ts";
import type { FetchResponse } from "../../../service/fetch-result.ts";
import { isRetried } from "../../../service/requests/retry-policy.ts";
import type { RunBudget } from "../run-budget.ts";
import { findProbe, holdsContent, type Probe, type RefusalExaminer } from "./examine-refusals.ts";

export interface ResponseWatch extends Pick<ServiceClient, "fetch"> {
  /** Whether the response for this address, and all since, cannot be used: then it may say nothing about the resource. */
  isInDoubt(url: string): boolean;
  /** Ends all doubt at the end of a crawl: too few were in a row. It stays if the run stopped because of it. */
  settle(): void;
}

export interface WatchTools {
  readonly reader: MirrorReader;
  readonly runBudget: RunBudget;
  readonly clock: Clock;
}

/** So many in a row are examined; twice as many each time when something held was answered. */
const firstThreshold = 3;

/** Waits before requests for something held, if the failures may pass. Before them, retries have taken four seconds. */
const outageWaits = [5_000, 20_000] as const;

/** Statuses and bodies that fit one resource, and a spent allowance too. Refusals with 403 and 429 are examined elsewhere. */
const suspectCodes: ReadonlySet<ServiceErrorCode> = new Set([
  ...(["unexpected-status", "not-the-api", "not-json", "not-utf8", "encoding-refused"] as const),
  ...(["redirect-refused", "too-many-redirects", "unexpected-not-modified"] as const),
]);

export function createResponseWatch(
  examiner: RefusalExaminer,
  { reader, runBudget, clock }: WatchTools,
): ResponseWatch {
  const { href: rootUrl } = new URL(reader.identity.baseUrl);
  /** The addresses of unusable responses since the last usable one, and the numbers of their requests. */
  const row = new Map<string, number>();
  let threshold = firstThreshold;
  let previous: Promise<unknown> = Promise.resolve();
  let stopped: ServiceError | null = null;
  /** Requests are numbered as they begin. */
  let begun = 0;
  let running = 0;
  let nextEnd = Promise.withResolvers<void>();
  /** The last request that had a usable response. */
  let lastUsable = 0;

  /** A later request may have been the first that was not answered any more. */
  const noteUsable = (number: number): void => {
    lastUsable = Math.max(lastUsable, number);
    for (const [url, other] of row) if (other < lastUsable) row.delete(url);
  };

  /** A service that reports a rest is not one whose allowance is spent. */
  const hasRest = (): boolean => (runBudget.newestRest ?? 0) > 0;

  // In this order: only `holdsContent` reads the body.
  const isUsable = (result: FetchResponse): boolean => hasRest() || holdsContent(result);

  const isAnswered = async (probe: Probe, isOutage: boolean, signal: AbortSignal | undefined) => {
    const first = await examiner.send(probe, signal, 0);
    if (first !== "free") return first === "succeeded";
    // A response that is free says nothing of the allowance.
    if (isOutage || hasRest()) return true;
    return (await examiner.send({ ...probe, etag: null }, signal, 0)) === "succeeded";
  };

  /** Whether something held is still answered. */
  const examine = async (isOutage: boolean, signal: AbortSignal | undefined): Promise<boolean> => {
    const probe =
      findProbe(reader, { urls: [rootUrl, ...row.keys()], ofTheirKinds: true }) ?? findRoot(reader);
    if (probe === null) return false;
    for (const wait of isOutage ? outageWaits : [0]) {
      if (wait > 0) await clock.sleep(wait, signal);
      if (await isAnswered(probe, isOutage, signal)) return true;
    }
    return false;
  };

  const judge = async (
    { url, signal }: FetchRequest,
    unusable: { readonly detail: string; readonly isOutage: boolean },
  ): Promise<void> => {
    if (stopped !== null) throw stopped;
    if (row.size < threshold) return;
    if (await runBudget.holdOthers(() => examine(unusable.isOutage, signal))) {
      noteUsable(++begun);
      threshold *= 2;
      return;
    }
    const detail = `the last ${row.size} resources were not answered in a way that can be used, nor was one that is held; this one: ${unusable.detail}`;
    stopped = new ServiceError("no-usable-response", detail, { url, isUnexplained: true });
    throw stopped;
  };

  const fetch = async (request: FetchRequest): Promise<FetchResponse> => {
    const number = ++begun;
    let outcome: FetchResponse | ServiceError;
    try {
      outcome = await examiner.fetch(request);
      if (isUsable(outcome)) {
        noteUsable(number);
        return outcome;
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (!suspectCodes.has(error.code) && !isRetried(error)) throw error;
      outcome = error;
    }
    if (number > lastUsable) row.set(request.url, number);
    const detail = outcome instanceof ServiceError ? outcome.detail : describe(outcome);
    const isOutage = outcome instanceof ServiceError && isRetried(outcome);
    const judged = previous.then(() => judge(request, { detail, isOutage }));
    previous = judged.catch(() => {});
    await judged;
    if (outcome instanceof ServiceError) throw outcome;
    return outcome;
  };

  return {
    async fetch(request) {
      // In doubt, one request at a time is enough.
      while (row.size > 0 && running > 0 && stopped === null) await nextEnd.promise;
      if (stopped !== null) throw stopped;
      running++;
      try {
        return await fetch(request);
      } finally {
        running--;
        nextEnd.resolve();
        nextEnd = Promise.withResolvers();
      }
    },
    isInDoubt: (url) => row.has(url),
    settle() {
      if (stopped === null) row.clear();
    },
  };
}

const describe = ({ outcome }: FetchResponse): string =>
  outcome === "gone" ? "it is said to be gone" : "an envelope that holds nothing";

function findRoot({ db }: MirrorReader): Probe | null {
  const select = prepare(db, () =>
    q.selectFrom("_resource").select(["id", "url", "etag"]).where("kind", "=", "root").limit(1),
  );
  return select.get() ?? null;
}
