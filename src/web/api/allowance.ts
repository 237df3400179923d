/**
 * The allowance of the API's clients: none, or as the service would grant it. A window opens with the first counted request
 * of a credential and has a fixed length. In memory: it is for trying clients, and protects nothing.
 */
export interface AllowanceOptions {
  /** Counted requests of each credential in a window. */
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface AllowanceState {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds. */
  readonly reset: number;
}

/** The owner of an allowance: the user of the served account, or anybody else. */
export type Holder = "user" | "none";

export interface Allowance {
  stateOf(holder: Holder): AllowanceState;
  /** Counts a request. @returns the state after it */
  spend(holder: Holder): AllowanceState;
}

/** More than any client sends, and less than 32 bits hold. */
const unlimited = 1_000_000_000;
const daySeconds = 86_400;

/** @param options null: the limit is a large number, and nothing is spent */
export function createAllowance(options: AllowanceOptions | null, now: () => number): Allowance {
  if (options === null) {
    // The end of the day, since a client may wait for any time that is given.
    const state = () => ({
      limit: unlimited,
      remaining: unlimited,
      reset: (Math.floor(now() / 1000 / daySeconds) + 1) * daySeconds,
    });
    return { stateOf: state, spend: state };
  }
  const { limit, windowSeconds } = options;
  const windows = new Map<Holder, { spent: number; readonly endsAt: number }>();
  const windowOf = (holder: Holder) => {
    const known = windows.get(holder);
    if (known !== undefined && now() < known.endsAt) return known;
    return { spent: 0, endsAt: now() + windowSeconds * 1000 };
  };
  const describe = ({ spent, endsAt }: { readonly spent: number; readonly endsAt: number }) => {
    return { limit, remaining: Math.max(0, limit - spent), reset: Math.ceil(endsAt / 1000) };
  };
  return {
    stateOf: (holder) => describe(windowOf(holder)),
    spend(holder) {
      const window = windowOf(holder);
      window.spent++;
      windows.set(holder, window);
      return describe(window);
    },
  };
}

export const rateLimitHeaders = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const;

/** Names and values in turn. */
export function allowanceHeaders({ limit, remaining, reset }: AllowanceState): readonly string[] {
  const [ofLimit, ofRemaining, ofReset] = rateLimitHeaders;
  return [ofLimit, String(limit), ofRemaining, String(remaining), ofReset, String(reset)];
}
