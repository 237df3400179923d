/** A service that meters requests by a clock of its own, as plain data: what would be told in answer to each request. */

import type { RateLimitHeaders } from "../../../src/service/requests/headers.ts";
import { type AttemptReport, noResponse } from "../../../src/service/requests/rate-limiter.ts";

export const day = 86_400_000;

export type RequestSort = "plain" | "unchanged" | "root";

export interface Metering {
  readonly limit: number;
  readonly tells: "epoch" | "seconds" | "nothing";
  readonly countsNotModified: boolean;
  readonly countsRoot: boolean;
}

export class SimulatedService {
  readonly #metering: Metering;
  #opened: number | null = null;
  #spent = 0;
  /** Answers that said that nothing was left, by window; only those that the client has got. */
  readonly refusals = new Map<number, number>();
  /** Epoch milliseconds. */
  now = Date.parse("2026-03-01T12:00:00Z");

  constructor(metering: Metering) {
    this.#metering = metering;
  }

  get remaining(): number {
    this.#renew();
    return this.#metering.limit - this.#spent;
  }

  get refused(): number {
    return [...this.refusals.values()].reduce((sum, count) => sum + count, 0);
  }

  get mostRefusedInOneWindow(): number {
    return Math.max(0, ...this.refusals.values());
  }

  /** Takes a request; what it answers is read by a client whose clock is so far ahead. */
  answer(sort: RequestSort): (clientNow: number) => AttemptReport {
    const { limit, countsNotModified, countsRoot } = this.#metering;
    const isCounted = sort === "plain" || (sort === "unchanged" ? countsNotModified : countsRoot);
    if (isCounted && this.remaining === 0) {
      const window = this.#opened ?? this.now;
      const read = this.#tell();
      return (clientNow) => {
        this.refusals.set(window, (this.refusals.get(window) ?? 0) + 1);
        return { ...noResponse, status: 403, isRefusal: true, allowance: read(clientNow) };
      };
    }
    this.#renew();
    if (isCounted) {
      this.#opened ??= this.now;
      this.#spent++;
    }
    const read = this.#tell();
    const status = sort === "unchanged" ? 304 : 200;
    if (this.#spent > limit) throw new Error("spent more than there was");
    return (clientNow) => ({ ...noResponse, status, allowance: read(clientNow) });
  }

  #renew(): void {
    if (this.#opened === null || this.now < this.#opened + day) return;
    this.#opened = null;
    this.#spent = 0;
  }

  #tell(): (clientNow: number) => RateLimitHeaders | null {
    const { limit, tells } = this.#metering;
    const remaining = this.remaining;
    const resetAt = (this.#opened ?? this.now) + day;
    const left = resetAt - this.now;
    if (tells === "nothing") return () => null;
    return (clientNow) => ({ limit, remaining, resetAt: tells === "epoch" ? resetAt : clientNow + left });
  }
}
