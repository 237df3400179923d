import type { Clock } from "../clock.ts";
import { ServiceError } from "../service-error.ts";

const maxFailuresInARow = 10;
const coolOffMillis = 60_000;

/**
 * Stops asking a service that is down. After ten fetches in a row have failed with all their retries, it refuses at once
 * for a minute; then fetches pass again, and the first failure closes the way for another minute.
 */
export class Circuit {
  readonly #clock: Clock;
  #failuresInARow = 0;
  #openUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws ServiceError */
  passOrThrow(url: string): void {
    if (this.#openUntil > this.#clock.now()) {
      const happened = `not asked, because the last ${this.#failuresInARow} resources failed`;
      throw new ServiceError("circuit-open", happened, { url, resumeAt: this.#openUntil });
    }
  }

  succeed(): void {
    this.#failuresInARow = 0;
  }

  fail(): void {
    this.#failuresInARow++;
    if (this.#failuresInARow >= maxFailuresInARow) this.#openUntil = this.#clock.now() + coolOffMillis;
  }
}
