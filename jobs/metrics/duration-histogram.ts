import type { Sample } from "./metric.ts";

/** The upper bounds of the buckets, in seconds. */
const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts durations for a histogram of Prometheus. */
export class DurationHistogram {
  readonly #counts = bounds.map(() => 0);
  #count = 0;
  #sum = 0;

  observe(seconds: number): void {
    this.#count++;
    this.#sum += seconds;
    for (const [n, bound] of bounds.entries()) {
      if (seconds <= bound) this.#counts[n] = (this.#counts[n] ?? 0) + 1;
    }
  }

  samples(labels: Readonly<Record<string, string>>): Sample[] {
    const bucket = (le: string, value: number) => ({ suffix: "_bucket", labels: { ...labels, le }, value });
    return [
      ...bounds.map((bound, n) => bucket(`${bound}`, this.#counts[n] ?? 0)),
      bucket("+Inf", this.#count),
      { suffix: "_sum", labels, value: this.#sum },
      { suffix: "_count", labels, value: this.#count },
    ];
  }
}
