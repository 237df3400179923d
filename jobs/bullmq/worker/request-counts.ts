/** How many requests a worker has sent, by whose they are and what became of them. */
import type { RawResponse } from "../../../src/service/transport/send-request.ts";

export interface RequestCount {
  readonly principal: string;
  /** The answer's status, or the code of why there was none: `200`, `304`, `429`, `timeout`. */
  readonly outcome: string;
  readonly count: number;
}

export class RequestCounts {
  readonly #counts = new Map<
    string,
    { readonly principal: string; readonly outcome: string; count: number }
  >();

  add(principal: string, { head, failure }: RawResponse): void {
    const outcome = failure === null ? `${head.status}` : failure.code;
    const key = `${principal} ${outcome}`;
    const known = this.#counts.get(key) ?? { principal, outcome, count: 0 };
    known.count++;
    this.#counts.set(key, known);
  }

  get all(): readonly RequestCount[] {
    return [...this.#counts.values()];
  }
}
