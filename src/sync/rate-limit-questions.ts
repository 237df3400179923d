/**
 * Where the answers do not tell what remains, what is behind the root's `rate_limit` link may; and where nobody knows yet what a
 * 304 costs, what it says before and after some.
 */
import type { MirrorReader } from "../mirror/mirror-reader.ts";
import type { Clock } from "../service/clock.ts";
import type { Service } from "../service/service.ts";
import type { RunAllowance } from "./allowance.ts";
import { askRateLimit } from "./ledger/rate-limit.ts";

export interface RateLimitQuestions {
  /** Asks if that is of use at this moment. @returns how many requests it took */
  askIfOfUse(): Promise<number>;
}

/** To begin with, before some 304s and after them. */
const mostAsked = 3;

export function prepareRateLimitQuestions(
  reader: MirrorReader,
  service: Service,
  allowance: RunAllowance,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): RateLimitQuestions {
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
      await askRateLimit(service, { url, signal }, allowance, clock.now);
      return allowance.counts.sent - sentBefore;
    },
  };
}
