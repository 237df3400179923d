import type { Clock } from "../clock.ts";
import { resolveLink } from "../same-origin.ts";
import { ServiceError } from "../service-error.ts";
import type { ServiceLimits } from "../wire/limits.ts";
import type { Ask, Attempt } from "./attempt.ts";
import type { RetryPolicy } from "./retry-policy.ts";

export interface FollowParts<Fetched> {
  readonly attempt: Attempt<Fetched>;
  readonly origin: string;
  readonly limits: ServiceLimits;
  readonly policy: RetryPolicy;
  readonly clock: Clock;
}

/**
 * Attempts until one decides: through redirects, waits that the service asks for, and a 304 that was not asked for, each
 * of them so many times at most.
 * @throws ServiceError
 */
export async function follow<Fetched>(
  first: Ask,
  { attempt, origin, limits, policy, clock }: FollowParts<Fetched>,
): Promise<Fetched> {
  let ask = first;
  let redirects = 0;
  let throttles = 0;
  let hasAskedPlainly = false;
  for (;;) {
    const verdict = await attempt(ask);
    switch (verdict.do) {
      case "return":
        return verdict.fetched;
      case "redirect":
        if (++redirects > limits.maxRedirects) {
          throw new ServiceError(
            "too-many-redirects",
            `redirected more than ${limits.maxRedirects} times`,
            ask,
          );
        }
        ask = { ...ask, target: readLocationOrThrow(verdict.location, ask.target, origin) };
        break;
      case "ask-plainly":
        if (hasAskedPlainly) throw verdict.error;
        hasAskedPlainly = true;
        ask = { ...ask, etag: null, lastModified: null };
        break;
      case "wait": {
        const waitMillis = verdict.retryAt - clock.now();
        if (waitMillis > policy.maxRetryAfterMillis || ++throttles > policy.maxThrottles) throw verdict.error;
        await clock.sleep(Math.max(waitMillis, policy.minDelayMillis), ask.signal);
      }
    }
  }
}

function readLocationOrThrow(location: string, from: string, origin: string): string {
  const resolved = resolveLink(location, from, origin);
  if ("url" in resolved) return resolved.url;
  throw new ServiceError(
    "redirect-refused",
    `redirected to an address that is not followed (${resolved.skipped})`,
    { url: from },
  );
}
