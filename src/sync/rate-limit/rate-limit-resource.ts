/**
 * Reads the resource behind the root's `rate_limit` link, for services whose headers carry no remaining count; and, while
 * it is unknown what a 304 costs, before and after some 304s.
 */
import { parseJsonBytesOrThrow } from "../../../schema/json.ts";
import { prepareColumn } from "../../mirror/file/statements.ts";
import { q } from "../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import type { Clock } from "../../platform/clock.ts";
import type { FetchRequest, ServiceClient } from "../../service/client.ts";
import { ServiceError } from "../../service/errors.ts";
import { type RateLimitHeaders, readRateLimitHeaders } from "../../service/requests/headers.ts";
import type { RunBudget } from "./run-budget.ts";

/**
 * Reads the remaining count, unless it is known in this window and nothing more can be inferred. The request needs a permit
 * like any other. If it fails, the run continues without the count; a response without one costs a request a week.
 * @param request the address of the resource; its signal cancels the request
 */
export async function fetchRateLimit(
  client: Pick<ServiceClient, "fetch">,
  request: Pick<FetchRequest, "url" | "signal">,
  runBudget: RunBudget,
  now: () => number,
): Promise<void> {
  if (runBudget.state.isReported && !runBudget.state.isBodyUseful) return;
  if (!runBudget.mayReadBody) return;
  try {
    const fetched = await client.fetch(request);
    const reading =
      fetched.outcome === "body" ? readRateLimitBody(parseJsonBytesOrThrow(fetched.body).value, now()) : null;
    if (reading === null) runBudget.recordUnreadableBody();
    else runBudget.recordLimits(reading);
  } catch (error) {
    if (!(error instanceof ServiceError) && !request.signal?.aborted) throw error;
    const isOfNoUse = error instanceof ServiceError && (error.next === "skip" || error.code === "postponed");
    if (isOfNoUse) runBudget.recordUnreadableBody();
  }
}

/**
 * Reads `{"body": {"base": {"limit", "remaining", "reset"}}}`, numbers or strings of digits; null without a remaining count.
 * @param now epoch milliseconds
 */
export function readRateLimitBody(value: unknown, now: number): RateLimitHeaders | null {
  const base = member(member(value, "body"), "base");
  const headers: Record<string, string> = {};
  for (const name of ["limit", "remaining", "reset"]) {
    const count = member(base, name);
    if (typeof count === "string" || typeof count === "number")
      headers[`x-ratelimit-${name}`] = String(count);
  }
  const reading = readRateLimitHeaders(headers, now);
  return reading?.remaining == null ? null : reading;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

export interface RateLimitPoller {
  /** @returns the number of requests sent */
  fetchIfUseful(): Promise<number>;
}

/** At the start of a run, before some 304s, and after them. */
const maxRequests = 3;

export function createRateLimitPoller(
  reader: MirrorReader,
  client: Pick<ServiceClient, "fetch">,
  runBudget: RunBudget,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): RateLimitPoller {
  const selectUrl = prepareColumn(reader.db, () =>
    q.selectFrom("_resource").select("url").where("kind", "=", "rate_limit"),
  );
  let requested = 0;
  return {
    async fetchIfUseful() {
      const { isReported, isBodyUseful } = runBudget.state;
      const isUseful = isReported
        ? isBodyUseful && runBudget.isIdle && requested < maxRequests
        : requested === 0;
      if (!isUseful) return 0;
      const url = selectUrl.get();
      if (url === undefined) return 0;
      requested++;
      const sentBefore = runBudget.counts.sent;
      await fetchRateLimit(client, { url, signal }, runBudget, clock.now);
      return runBudget.counts.sent - sentBefore;
    },
  };
}
