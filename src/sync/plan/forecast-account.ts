/** How long an account takes. In: what is due in it, and the allowance. Out: requests and days, as far as is known. Pure. */
import type { KnownAllowance } from "../ledger/describe-window.ts";
import type { DueCount } from "./count-due.ts";
import { leadsFurther } from "./plan-account.ts";

export interface AccountForecast {
  /** Whether all that leads to others was fetched once: before, nobody knows how much there is. */
  readonly isWhole: boolean;
  /** Counted requests until everything is held and checked, as far as is known. */
  readonly requestsLeft: number;
  /** Days beyond today until then, at this allowance; null where its limit is not known. */
  readonly days: number | null;
}

export function forecastAccount(due: readonly DueCount[], known: KnownAllowance | null): AccountForecast {
  const requestsLeft = due.reduce((sum, { fetch, check, freeChecks }) => sum + fetch + check - freeChecks, 0);
  const afterToday = Math.max(0, requestsLeft - (known?.remaining ?? 0));
  const limit = known?.limit ?? null;
  return {
    isWhole: due.every(({ kind, fetch }) => fetch === 0 || !leadsFurther.has(kind)),
    requestsLeft,
    days: limit === null ? null : Math.ceil(afterToday / Math.max(1, limit)),
  };
}
