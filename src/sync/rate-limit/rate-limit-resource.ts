/** The allowance as the resource behind the root's `rate_limit` link tells it, for services that send no headers of it. */

import type { MirrorReader } from "../../mirror/reader.ts";
import type { Clock } from "../../platform/clock.ts";
import type { FetchRequest, ServiceClient } from "../../service/client.ts";
import { ServiceError } from "../../service/errors.ts";
import { type RateLimitHeaders, readRateLimitHeaders } from "../../service/responses/headers.ts";
import type { RunBudget } from "./run-budget.ts";

/**
 * Asks what remains, unless this window's answers have told it already, or it shows what a 304 costs. It is asked as any other
 * resource is: leased, counted and refused. A service that does not answer has told nothing, and the run goes on.
 * @param request where the root's link leads; the signal gives up waiting for an answer
 */
export async function fetchRateLimit(
  service: ServiceClient,
  request: Pick<FetchRequest, "url" | "signal">,
  allowance: RunBudget,
  now: () => number,
): Promise<void> {
  if (allowance.state.isTold && !allowance.state.isBodyOfUse) return;
  try {
    const fetched = await service.fetch(request);
    const reading = fetched.outcome === "body" ? readRateLimitBody(fetched.json, now()) : null;
    if (reading !== null) allowance.tell(reading);
  } catch (error) {
    if (!(error instanceof ServiceError) && !request.signal?.aborted) throw error;
  }
}

/**
 * Reads `{"body": {"base": {"limit", "remaining", "reset"}}}`, numbers or strings of digits; null when it tells nothing.
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

/**
 * Where the answers do not tell what remains, what is behind the root's `rate_limit` link may; and where nobody knows yet what a
 * 304 costs, what it says before and after some.
 */

export interface RateLimitPoller {
  /** Asks if that is of use at this moment. @returns how many requests it took */
  askIfOfUse(): Promise<number>;
}

/** To begin with, before some 304s and after them. */
const mostAsked = 3;

export function createRateLimitPoller(
  reader: MirrorReader,
  service: ServiceClient,
  allowance: RunBudget,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): RateLimitPoller {
  let asked = 0;
  return {
    async askIfOfUse() {
      const { isTold, isBodyOfUse } = allowance.state;
      const isWanted = isTold ? isBodyOfUse && allowance.isQuiet && asked < mostAsked : asked === 0;
      if (!isWanted) return 0;
      const url = reader.db
        .prepare<[], string>("select url from _resource where kind = 'rate_limit'")
        .pluck()
        .get();
      if (url === undefined) return 0;
      asked++;
      const sentBefore = allowance.counts.sent;
      await fetchRateLimit(service, { url, signal }, allowance, clock.now);
      return allowance.counts.sent - sentBefore;
    },
  };
}
