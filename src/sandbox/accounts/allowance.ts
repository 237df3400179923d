/**
 * The allowance of each credential. A window opens with the credential's first counted request and has a fixed length on
 * the sandbox's clock.
 */
export interface AllowanceState {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds. */
  readonly resetAt: number;
}

/** How headers give the end of a window, if there are any. */
export const allowanceHeaderStyles = ["epoch", "seconds", "none"] as const;
export type AllowanceHeaderStyle = (typeof allowanceHeaderStyles)[number];

/**
 * The names of the headers: `X-RateLimit-Limit`; `RateLimit-Limit`, of the IETF's earlier drafts; or the structured fields
 * `RateLimit` and `RateLimit-Policy`.
 */
export const rateLimitFamilies = ["x-ratelimit", "ratelimit", "structured"] as const;
export type RateLimitFamily = (typeof rateLimitFamilies)[number];

/** Whether `limit` is what a window grants, or what was used of it: then limit and remaining add up to the grant. */
export const limitMeanings = ["granted", "used"] as const;
export type LimitMeaning = (typeof limitMeanings)[number];

/** The response when nothing is left: 403 that explains itself, or a status without headers and without a reason. */
export const spentResponses = ["explained", "bare-403", "bare-429"] as const;
export type SpentResponse = (typeof spentResponses)[number];

/** Instead of the general allowance, by the kind of credential; null: no limit. */
export interface CredentialAllowances {
  readonly none?: number | null | undefined;
  readonly app?: number | null | undefined;
  readonly user?: number | null | undefined;
}

export interface AllowanceOptions {
  readonly allowance: number | null;
  readonly allowances: CredentialAllowances;
  readonly windowSeconds: number;
  readonly allowanceHeaders: AllowanceHeaderStyle;
  readonly rateLimitFields: RateLimitFamily;
  readonly limitMeaning: LimitMeaning;
}

export interface Allowance {
  /** @param holder the owner of the allowance: an application, a user, or an address without a credential. Null: no limit */
  readonly stateOf: (holder: string) => AllowanceState | null;
  readonly spend: (holder: string) => void;
  /** Names and values of the headers of a response; empty without a limit, and if there are none. */
  readonly headersFor: (
    state: AllowanceState | null,
    isCounted: boolean,
  ) => readonly (readonly [string, string])[];
  /** The `base` of the `rate_limit` resource; its members are null without a limit. */
  readonly baseOf: (state: AllowanceState | null) => Record<"limit" | "remaining" | "reset", number | null>;
}

export function createAllowance(options: AllowanceOptions, nowMillis: () => number): Allowance {
  const { allowance, allowances, windowSeconds, allowanceHeaders, rateLimitFields, limitMeaning } = options;
  const windows = new Map<string, { spent: number; endsAtMillis: number }>();
  const windowOf = (holder: string): { spent: number; endsAtMillis: number } => {
    const known = windows.get(holder);
    const now = nowMillis();
    if (known && now < known.endsAtMillis) return known;
    return { spent: 0, endsAtMillis: now + windowSeconds * 1_000 };
  };
  const limitOf = (holder: string): number | null => {
    const own = allowances[/^(?:none|app|user)/.exec(holder)?.[0] as keyof CredentialAllowances];
    return own === undefined ? allowance : own;
  };
  const shownLimit = ({ limit }: AllowanceState, remaining: number): number =>
    limitMeaning === "used" ? limit - remaining : limit;

  return {
    stateOf(holder) {
      const limit = limitOf(holder);
      if (limit === null) return null;
      const { spent, endsAtMillis } = windowOf(holder);
      return { limit, remaining: Math.max(0, limit - spent), resetAt: Math.ceil(endsAtMillis / 1_000) };
    },
    spend(holder) {
      const window = windowOf(holder);
      window.spent++;
      windows.set(holder, window);
    },
    headersFor(state, isCounted) {
      if (state === null || allowanceHeaders === "none") return [];
      const remaining = state.remaining - (isCounted ? 1 : 0);
      const limit = shownLimit(state, remaining);
      const seconds = Math.max(0, Math.ceil(state.resetAt - nowMillis() / 1_000));
      if (rateLimitFields === "structured")
        return [
          ["RateLimit-Policy", `"default";q=${limit};w=${windowSeconds}`],
          ["RateLimit", `"default";r=${remaining};t=${seconds}`],
        ];
      const prefix = rateLimitFields === "ratelimit" ? "RateLimit" : "X-RateLimit";
      return [
        [`${prefix}-Limit`, String(limit)],
        [`${prefix}-Remaining`, String(remaining)],
        [`${prefix}-Reset`, String(allowanceHeaders === "seconds" ? seconds : state.resetAt)],
      ];
    },
    baseOf(state) {
      if (state === null) return { limit: null, remaining: null, reset: null };
      const { remaining, resetAt } = state;
      return { limit: shownLimit(state, remaining), remaining, reset: resetAt };
    },
  };
}
