/**
 * Finds out why a request was refused without a reason, or with a long `Retry-After`: one resource that is held is requested
 * conditionally, which is free with most services. In: the client. Out: the same client, whose errors say which of both it
 * is: the resource is forbidden or postponed, or the allowance is spent and the client may be blocked. Refusals are examined
 * one after the other.
 */
import type { JobResult } from "../../../../jobs/fetch-job.ts";
import { prepare, prepareColumn } from "../../../mirror/file/statements.ts";
import { q, textsIn } from "../../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../../mirror/reader.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { FetchRequest, ServiceClient } from "../../../service/client.ts";
import { ServiceError } from "../../../service/errors.ts";
import type { FetchResponse } from "../../../service/fetch-result.ts";
import { defaultRetryPolicy, maxBelievedWaits } from "../../../service/requests/retry-policy.ts";
import type { RunBudget } from "../run-budget.ts";

export interface RefusalExaminer extends Pick<ServiceClient, "fetch"> {
  /** Sends a request of its own. @param maxRetries default: by the policy */
  send(probe: Probe, signal: AbortSignal | undefined, maxRetries?: number): Promise<Evidence | "free">;
  /** Responses to its own requests, to be stored like others; each once. */
  takeResults(): JobResult[];
}

export interface Probe {
  readonly id: number;
  readonly url: string;
  readonly etag: string | null;
}

/** `none`: nothing else is held. */
export type Evidence = "succeeded" | "refused" | "unknown" | "none";

const withoutReason = ", without saying why";

/** After this time a service that was busy for a moment responds again. */
const busyMillis = 1_000;

/** More in a row concern all, also if something held still responds. */
const maxLongRounds = 3;

/** After so many other responses, a long wait begins a new row. */
const manyOthers = 10;

export function createRefusalExaminer(
  client: Pick<ServiceClient, "fetch">,
  reader: MirrorReader,
  runBudget: RunBudget,
  clock: Clock,
): RefusalExaminer {
  const { href: rootUrl } = new URL(reader.identity.baseUrl);
  const results: JobResult[] = [];
  let previous: Promise<unknown> = Promise.resolve();
  let spent: ServiceError | null = null;
  /** Requests are numbered as they begin. */
  let begun = 0;
  /** The first request that was sent after the last proof that the allowance is not spent. */
  let provenBefore = 0;
  /** Rounds of long waits with few other responses between; requests that were sent together are one round. */
  let longRounds = 0;
  let othersSinceRound = 0;
  /** The first request of the next round. */
  let nextRoundFrom = 0;

  const send = async (
    { id, url, etag }: Probe,
    signal: AbortSignal | undefined,
    maxRetries = defaultRetryPolicy.maxRetries,
  ): Promise<Evidence | "free"> => {
    try {
      const examined = { url, etag, isExamined: true, waits: maxBelievedWaits, maxRetries };
      const result = await client.fetch({ ...examined, ...(signal && { signal }) });
      if (!holdsContent(result)) return "unknown";
      results.push({ status: "fetched", job: { resourceId: id, url, etag }, result });
      if (result.outcome === "body") return "succeeded";
      return result.outcome === "not-modified" && !runBudget.isCheckCounted ? "free" : "succeeded";
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return error.isUnexplained || error.next === "stop-allowance" ? "refused" : "unknown";
    }
  };

  const findOut = async (refused: ServiceError, signal: AbortSignal | undefined): Promise<Evidence> => {
    const { mark } = runBudget;
    const step = isBusyForLong(refused, runBudget) ? "distrust" : runBudget.nextStep;
    if (step === "spent") return "refused";
    if (step === "forbidden") return "succeeded";
    const probe = findProbe(reader, { urls: [rootUrl, refused.url] });
    // No other request has ever succeeded, so nothing else can be fetched either.
    if (probe === null) return "none";
    if (refused.status === 429) await clock.sleep(busyMillis, signal);
    const first = probe.etag === null ? "free" : await send(probe, signal);
    if (first !== "free") return first;
    const remaining = step === "distrust" ? null : runBudget.reportedSince(mark);
    if (remaining !== null) return remaining > 0 ? "succeeded" : "refused";
    // A response that is free says nothing of the allowance.
    if (step === "probe") return "unknown";
    runBudget.countProbe();
    const second = await send({ ...probe, etag: null }, signal);
    return second === "free" ? "unknown" : second;
  };

  const examine = async (
    refused: ServiceError,
    { number, isLong }: { readonly number: number; readonly isLong: boolean },
    signal: AbortSignal | undefined,
  ): Promise<ServiceError> => {
    if (spent !== null) return spent;
    if (isLong && number >= nextRoundFrom) {
      nextRoundFrom = begun + 1;
      if (othersSinceRound >= manyOthers) longRounds = 0;
      othersSinceRound = 0;
      if (++longRounds > maxLongRounds) {
        spent = waitForAll(refused);
        return spent;
      }
    }
    if (number < provenBefore || wasRefused(reader, refused.url)) {
      runBudget.settleRefusals(1);
      return ofOneResource(refused, isLong);
    }
    const next = begun + 1;
    const { url, status, detail } = refused;
    const evidence = await findOut(refused, signal);
    if (evidence === "succeeded") {
      provenBefore = next;
      runBudget.settleRefusals();
      return ofOneResource(refused, isLong);
    }
    if (evidence === "refused") {
      spent = isLong ? waitForAll(refused) : noneLeft(refused);
      return spent;
    }
    if (!isLong) return new ServiceError("unexpected-status", `${detail}${withoutReason}`, { url, status });
    if (evidence === "none" && status !== 503) return waitForAll(refused);
    // A service that is down is no reason to postpone its root.
    return evidence === "none" && url === rootUrl ? refused : ofOneResource(refused, isLong);
  };

  const noneLeft = ({ url, status, detail }: ServiceError): ServiceError => {
    runBudget.recordSpent();
    const { resetAt: resumeAt } = runBudget.state;
    const problem = `${detail}${withoutReason}; the allowance is spent, or the service blocks this client`;
    return new ServiceError("allowance-spent", problem, { url, status, resumeAt, isUnexplained: true });
  };

  const waitForAll = ({ url, status, detail, resumeAt }: ServiceError): ServiceError => {
    const isOutage = status === 503;
    runBudget.recordWait(resumeAt ?? 0, isOutage);
    const problem = `${detail} and asks to wait, whatever is requested`;
    if (isOutage) return new ServiceError("circuit-open", problem, { url, status, resumeAt });
    return new ServiceError("throttled", problem, { url, status, resumeAt, isUnexplained: true });
  };

  return {
    async fetch(request: FetchRequest) {
      const number = ++begun;
      try {
        const result = await client.fetch({ ...request, isExamined: true });
        othersSinceRound++;
        return result;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (!error.isUnexplained && !isBusyForLong(error, runBudget)) throw error;
        const waitMillis = (error.resumeAt ?? 0) - clock.now();
        const isLong = error.code === "throttled" && waitMillis > defaultRetryPolicy.maxRetryAfterMillis;
        throw await runBudget.holdOthers(() => {
          const examined = previous.then(() => examine(error, { number, isLong }, request.signal));
          previous = examined.catch(() => {});
          return examined;
        });
      }
    },
    send,
    takeResults: () => results.splice(0),
  };
}

/** Whether it was refused at each attempt, although the service reports that something remains. One of both is wrong. */
function isBusyForLong({ code, isUnexplained }: ServiceError, { state }: RunBudget): boolean {
  return code === "busy" && !isUnexplained && state.remaining !== 0;
}

/** Whatever it said about waiting. @param isLong whether it is to be requested after that time only */
function ofOneResource(refused: ServiceError, isLong: boolean): ServiceError {
  if (refused.code !== "throttled") return refused;
  const { url, status, detail, resumeAt } = refused;
  if (isLong) return new ServiceError("postponed", detail, { url, status, resumeAt });
  return new ServiceError("refused", `${detail} each time, in spite of waiting as it asked`, { url, status });
}

/** Whether the last request for it was refused as well, and others were not: then another refusal is no news. */
function wasRefused({ db }: MirrorReader, url: string): boolean {
  const select = prepareColumn(db, (p: { url: string }) =>
    q.selectFrom("_resource").select("error").where("url", "=", p.url),
  );
  const error = select.get({ url }) ?? "";
  return /^(?:forbidden|refused|postponed):/.test(error) || error.endsWith(withoutReason);
}

/**
 * A held resource that is counted when it is sent: if possible one with an ETag, and no list, which may have changed while
 * its other pages were read. Of those, the one fetched last.
 * @param except these resources, and if possible all of their kinds
 */
export function findProbe(
  { db }: MirrorReader,
  except: { readonly urls: readonly string[]; readonly ofTheirKinds?: boolean },
): Probe | null {
  const select = prepare(db, (p: { except: string; ofTheirKinds: number }) =>
    q
      .selectFrom("_resource")
      .select(["id", "url", "etag"])
      .where("state", "=", "held")
      .where("kind", "in", ["me", "brands", "brand", "models", "model", "bras"])
      .where("url", "not in", textsIn(p.except))
      .orderBy((eb) =>
        eb(eb.val(p.ofTheirKinds), "=", 1).and(
          "kind",
          "in",
          eb.selectFrom("_resource as r").select("r.kind").where("r.url", "in", textsIn(p.except)),
        ),
      )
      .orderBy((eb) => eb("etag", "is not", null), "desc")
      .orderBy((eb) => eb("kind", "in", ["me", "brand", "model"]), "desc")
      .orderBy("checked_at", "desc")
      .limit(1),
  );
  const { urls, ofTheirKinds = false } = except;
  return select.get({ except: JSON.stringify(urls), ofTheirKinds: Number(ofTheirKinds) }) ?? null;
}

/** Whether a response is an envelope with something in it, or says that the held one is unchanged. */
export const holdsContent = (result: FetchResponse): boolean =>
  result.outcome === "not-modified" || (result.outcome === "body" && !isEmpty(result.body));

/** The longest body that is looked into. */
const maxEmptyBytes = 1_000;

/** Whether a body is no envelope, or one that holds nothing. */
function isEmpty(body: Uint8Array): boolean {
  if (body.length > maxEmptyBytes) return false;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString());
  } catch {
    return true;
  }
  if (typeof value !== "object" || value === null || !("rel" in value)) return true;
  return ["links", "body", "collection"].every((name) => holdsNothing(Object.entries(value), name));
}

function holdsNothing(members: readonly (readonly [string, unknown])[], name: string): boolean {
  const value = members.find(([key]) => key === name)?.[1];
  return typeof value !== "object" || value === null || Object.keys(value).length === 0;
}
