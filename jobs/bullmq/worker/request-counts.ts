import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import { DurationHistogram } from "../../metrics/duration-histogram.ts";

/** How many requests of a principal had an outcome. */
export interface RequestCount {
  /** Whose credential was used, by its name. */
  readonly principal: string;
  /** The status of the response, or the code of the failure: `200`, `304`, `429`, `timeout`. */
  readonly outcome: string;
  readonly count: number;
}

/** Counts and times the requests that a worker process has sent. */
export class RequestCounts {
  readonly #counts = new Map<
    string,
    { readonly principal: string; readonly outcome: string; count: number }
  >();

  readonly #durations: ReadonlyMap<string, DurationHistogram>;

  /** @param principals from zero on: a worker that sends nothing must be seen, too */
  constructor(principals: readonly string[]) {
    this.#durations = new Map(principals.map((name) => [name, new DurationHistogram()]));
  }

  add(principal: string, { head, failure }: RawResponse, seconds: number): void {
    this.#durations.get(principal)?.observe(seconds);
    const outcome = failure === null ? `${head.status}` : failure.code;
    const key = `${principal} ${outcome}`;
    const entry = this.#counts.get(key) ?? { principal, outcome, count: 0 };
    entry.count++;
    this.#counts.set(key, entry);
  }

  /** By principal. */
  get durations(): ReadonlyMap<string, DurationHistogram> {
    return this.#durations;
  }

  sentFor(principal: string): number {
    return this.all.reduce((sum, one) => sum + (one.principal === principal ? one.count : 0), 0);
  }

  get all(): readonly RequestCount[] {
    return [...this.#counts.values()];
  }
}
