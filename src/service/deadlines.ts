/** Something that must end in time. */
export interface Expiring {
  expire(): void;
}

const ticksInTimeout = 20;

/**
 * The total deadline of everything in flight, kept by one coarse timer instead of one for each request. It counts ticks,
 * so a changed system clock does not matter; it fires up to a tenth late and never early.
 */
export class Deadlines {
  readonly #ticksLeft = new Map<Expiring, number>();
  readonly #tickMillis: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMillis: number) {
    this.#tickMillis = Math.max(1, Math.ceil(timeoutMillis / ticksInTimeout));
  }

  add(expiring: Expiring): void {
    this.#ticksLeft.set(expiring, ticksInTimeout + 1);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMillis).unref();
  }

  remove(expiring: Expiring): void {
    this.#ticksLeft.delete(expiring);
  }

  #tick(): void {
    if (this.#ticksLeft.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const [expiring, ticks] of this.#ticksLeft) {
      if (ticks > 1) {
        this.#ticksLeft.set(expiring, ticks - 1);
      } else {
        this.#ticksLeft.delete(expiring);
        expiring.expire();
      }
    }
  }
}
