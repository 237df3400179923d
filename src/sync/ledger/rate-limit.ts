/** The allowance as the resource behind the root's `rate_limit` link tells it, for services that send no headers of it. */
import { type AllowanceReading, readAllowance } from "../../service/answers/allowance-reading.ts";
import type { FetchRequest, Service } from "../../service/service.ts";
import { ServiceError } from "../../service/service-error.ts";
import type { RunAllowance } from "../allowance.ts";

/**
 * Asks what remains, unless this window's answers have told it already, or it shows what a 304 costs. It is asked as any other
 * resource is: leased, counted and refused. A service that does not answer has told nothing, and the run goes on.
 * @param request where the root's link leads; the signal gives up waiting for an answer
 */
export async function askRateLimit(
  service: Service,
  request: Pick<FetchRequest, "url" | "signal">,
  allowance: RunAllowance,
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
export function readRateLimitBody(value: unknown, now: number): AllowanceReading | null {
  const base = member(member(value, "body"), "base");
  const headers: Record<string, string> = {};
  for (const name of ["limit", "remaining", "reset"]) {
    const count = member(base, name);
    if (typeof count === "string" || typeof count === "number")
      headers[`x-ratelimit-${name}`] = String(count);
  }
  const reading = readAllowance(headers, now);
  return reading?.remaining == null ? null : reading;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
