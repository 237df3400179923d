/**
 * The key of a server, and the sessions that it opens. The key is printed once at the start; a browser exchanges it for a
 * cookie, so that it is in no address that a browser stores. Sessions end with the process.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import { createAccessKey } from "./access-key.ts";

export interface Sessions {
  /** 128 random bits. */
  readonly key: string;
  /**
   * @returns the token of a new session; null for a wrong key, after a while that grows with each one; `busy` while too many
   * wrong keys wait
   */
  open(key: string): Promise<string | null | "busy">;
  has(token: string): boolean;
}

const maxSessions = 100;
const maxWaiting = 8;
const firstDelayMillis = 500;
const maxDelayMillis = 8000;

export function createSessions(clock: Clock): Sessions {
  const key = randomBytes(16).toString("base64url");
  const { matches } = createAccessKey(key, clock);
  const tokens = new Set<string>();
  let wrongKeys = 0;
  let waiting = 0;
  return {
    key,
    async open(given) {
      if (waiting >= maxWaiting) return "busy";
      if (matches(given)) {
        wrongKeys = 0;
        const token = randomBytes(16).toString("base64url");
        tokens.add(token);
        const [oldest] = tokens;
        if (tokens.size > maxSessions && oldest !== undefined) tokens.delete(oldest);
        return token;
      }
      waiting += 1;
      try {
        await clock.sleep(Math.min(firstDelayMillis * 2 ** wrongKeys++, maxDelayMillis), undefined);
      } finally {
        waiting -= 1;
      }
      return null;
    },
    has: (token) => tokens.has(token),
  };
}
