import type { RawResponse } from "../../../src/service/transport/send-request.ts";

/** How many requests of a principal had an outcome. */
export interface RequestCount {
  readonly principal: string;
  /** The status of the response, or the code of the failure: `200`, `304`, `429`, `timeout`. */
  readonly outcome: string;
  readonly count: number;
}

/** Counts the requests that a worker process has sent. */
export class RequestCounts {
  readonly #counts = new Map<
    string,
    { readonly principal: string; readonly outcome: string; count: number }
  >();

  add(principal: string, { head, failure }: RawResponse): void {
    const outcome = failure === null ? `${head.status}` : failure.code;
    const key = `${principal} ${outcome}`;
    const entry = this.#counts.get(key) ?? { principal, outcome, count: 0 };
    entry.count++;
    this.#counts.set(key, entry);
  }

  get all(): readonly RequestCount[] {
    return [...this.#counts.values()];
  }
}
