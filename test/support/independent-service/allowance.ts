/** The allowance: counts, and how header fields and the `rate_limit` entity tell it. */
import type { Allowance, Options } from "./options.ts";

interface Window {
  start: number;
  used: number;
}

/** What one credential has of the allowance. */
export interface State {
  readonly allowed: number;
  readonly used: number;
  readonly left: number;
  readonly resetAt: number;
  readonly isSpent: boolean;
}

export class Counter {
  readonly #options: Options;
  readonly #windows = new Map<string, Window>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Null when nothing is limited. */
  state(credential: string): State | null {
    const { allowance } = this.#options;
    if (allowance === null) return null;
    const { start, used } = this.#window(credential, allowance);
    const allowed = allowance.others?.[credential] ?? allowance.requests;
    return {
      ...{ allowed, used, left: Math.max(0, allowed - used) },
      ...{ resetAt: start + allowance.windowMs, isSpent: used >= allowed },
    };
  }

  count(credential: string): void {
    const { allowance } = this.#options;
    if (allowance === null) return;
    const window = this.#window(credential, allowance);
    window.used += 1;
    this.#windows.set(keyOf(credential, allowance), window);
  }

  #window(credential: string, allowance: Allowance): Window {
    const now = this.#options.now();
    const open = this.#windows.get(keyOf(credential, allowance));
    if (open !== undefined && now < open.start + allowance.windowMs) return open;
    const start = allowance.start === "fixed" ? now - (now % allowance.windowMs) : now;
    return { start, used: 0 };
  }
}

function keyOf(credential: string, { per }: Allowance): string {
  return per === "credential" ? credential : "";
}

/** The header fields of a response; `isRefusal` when it refuses for want of allowance. */
export function allowanceFields(
  state: State | null,
  isRefusal: boolean,
  { allowanceFields, allowance, retryAfter, now }: Options,
): Record<string, string> {
  if (state === null || allowance === null) return {};
  const seconds = Math.max(1, Math.ceil((state.resetAt - now()) / 1000));
  const xFields = (limit: number) => ({
    ...{ "X-RateLimit-Limit": `${limit}`, "X-RateLimit-Remaining": `${state.left}` },
    "X-RateLimit-Reset": `${Math.ceil(state.resetAt / 1000)}`,
  });
  const fields: Record<Options["allowanceFields"], Record<string, string>> = {
    ietf: {
      "RateLimit-Policy": `"all";q=${state.allowed};w=${allowance.windowMs / 1000}`,
      RateLimit: `"all";r=${state.left};t=${seconds}`,
    },
    "ietf-three": {
      ...{ "RateLimit-Limit": `${state.allowed}`, "RateLimit-Remaining": `${state.left}` },
      "RateLimit-Reset": `${seconds}`,
    },
    "x-epoch": xFields(state.allowed),
    "x-used": xFields(state.used),
    none: {},
  };
  const retry = { seconds: `${seconds}`, date: new Date(state.resetAt).toUTCString(), none: undefined }[
    retryAfter
  ];
  return {
    ...fields[allowanceFields],
    ...(isRefusal && retry !== undefined ? { "Retry-After": retry } : {}),
  };
}

/** The body of the entity behind `rate_limit`. */
export function allowanceBody(state: State | null): Record<string, unknown> {
  return {
    granted: state?.allowed ?? null,
    spent: state?.used ?? 0,
    renewed_at: state === null ? null : new Date(state.resetAt).toISOString(),
  };
}
