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

export interface Allowance {
  /** @param holder the owner of the allowance: an application, a user, or an address without a credential */
  readonly stateOf: (holder: string) => AllowanceState;
  readonly spend: (holder: string) => void;
}

/** `X-RateLimit-Reset`: an epoch second, or seconds from now. */
export function resetFor(
  { resetAt }: AllowanceState,
  style: AllowanceHeaderStyle,
  nowMillis: number,
): number {
  return style === "seconds" ? Math.max(0, Math.ceil(resetAt - nowMillis / 1_000)) : resetAt;
}

export function createAllowance(limit: number, windowSeconds: number, nowMillis: () => number): Allowance {
  const windows = new Map<string, { spent: number; endsAtMillis: number }>();
  const windowOf = (holder: string): { spent: number; endsAtMillis: number } => {
    const known = windows.get(holder);
    const now = nowMillis();
    if (known && now < known.endsAtMillis) return known;
    return { spent: 0, endsAtMillis: now + windowSeconds * 1_000 };
  };
  return {
    stateOf(holder) {
      const { spent, endsAtMillis } = windowOf(holder);
      return { limit, remaining: Math.max(0, limit - spent), resetAt: Math.ceil(endsAtMillis / 1_000) };
    },
    spend(holder) {
      const window = windowOf(holder);
      window.spent++;
      windows.set(holder, window);
    },
  };
}
