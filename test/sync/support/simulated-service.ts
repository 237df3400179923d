/** A service that counts requests by a clock of its own, without HTTP: it returns the report of each request. */
import type { RateLimitHeaders } from "../../../src/service/requests/headers.ts";
import { type AttemptReport, noResponse } from "../../../src/service/requests/rate-limiter.ts";

export const day = 86_400_000;

export type RequestSort = "plain" | "unchanged" | "root";

export interface Metering {
  readonly limit: number;
  /** How the reset is reported, if anything is. */
  readonly headers: "epoch" | "seconds" | "none";
  readonly countsNotModified: boolean;
  readonly countsRoot: boolean;
  /** Whether free responses report a window that has ended, until a counted request begins the next one. Default: false */
  readonly reportsEnded?: boolean;
}

export class SimulatedService {
  readonly #metering: Metering;
  #openedAt: number | null = null;
  #spent = 0;
  #ended: { readonly spent: number; readonly resetAt: number } | null = null;
  /** Refusals that reached the client, by window. */
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

  get maxRefusedInOneWindow(): number {
    return Math.max(0, ...this.refusals.values());
  }

  /** Receives a request. @returns the report of its response, by the client's clock */
  receive(sort: RequestSort): (clientNow: number) => AttemptReport {
    const { limit, countsNotModified, countsRoot } = this.#metering;
    const isCounted = sort === "plain" || (sort === "unchanged" ? countsNotModified : countsRoot);
    if (isCounted && this.remaining === 0) {
      const window = this.#openedAt ?? this.now;
      const headers = this.#headers();
      return (clientNow) => {
        this.refusals.set(window, (this.refusals.get(window) ?? 0) + 1);
        return { ...noResponse, status: 403, isRefusal: true, allowance: headers(clientNow) };
      };
    }
    this.#renew();
    if (isCounted) {
      this.#openedAt ??= this.now;
      this.#spent++;
    }
    const headers = this.#headers();
    const status = sort === "unchanged" ? 304 : 200;
    if (this.#spent > limit) throw new Error("more was spent than granted");
    return (clientNow) => ({ ...noResponse, status, allowance: headers(clientNow) });
  }

  #renew(): void {
    if (this.#openedAt === null || this.now < this.#openedAt + day) return;
    this.#ended = { spent: this.#spent, resetAt: this.#openedAt + day };
    this.#openedAt = null;
    this.#spent = 0;
  }

  #headers(): (clientNow: number) => RateLimitHeaders | null {
    const { limit, headers, reportsEnded = false } = this.#metering;
    this.#renew();
    const ended = reportsEnded && this.#openedAt === null ? this.#ended : null;
    const remaining = limit - (ended?.spent ?? this.#spent);
    const resetAt = ended?.resetAt ?? (this.#openedAt ?? this.now) + day;
    const millisToReset = Math.max(0, resetAt - this.now);
    if (headers === "none") return () => null;
    return (clientNow) => ({
      limit,
      remaining,
      resetAt: headers === "epoch" ? resetAt : clientNow + millisToReset,
    });
  }
}
