/** A request that is being sent, and can be ended. */
export interface Cancellable {
  readonly signal: AbortSignal | undefined;
  /** Called when its total time is over. */
  expire(): void;
  /** Called when its signal is aborted. */
  cancel(): void;
}

interface Subscription {
  /** The number of requests with this signal. */
  requests: number;
  readonly listener: () => void;
}

const ticksPerTimeout = 20;
const notStarted = -1;

/**
 * Ends requests at their deadline, by one coarse timer, and at their callers' signals, by one listener each. The timer
 * counts ticks, so a changed system clock does not matter; it fires up to a tenth late and never early.
 *
 * Requests are kept in slots that are reused. In a Map, or in a listener of its own, an ended request would stay reachable
 * from objects that V8 has moved to its old generation and not collected yet, with everything it refers to. A crawl spent
 * a tenth of its time collecting those.
 */
export class DeadlineTimer {
  readonly #slots: (Cancellable | null)[] = [];
  readonly #ticksLeft: number[] = [];
  readonly #freeSlots: number[] = [];
  readonly #subscriptions = new Map<AbortSignal, Subscription>();
  readonly #tickMillis: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMillis: number) {
    this.#tickMillis = Math.max(1, Math.ceil(timeoutMillis / ticksPerTimeout));
  }

  /** @returns its slot, for `start` and `remove` */
  add(request: Cancellable): number {
    const slot = this.#freeSlots.pop() ?? this.#slots.length;
    this.#slots[slot] = request;
    this.#ticksLeft[slot] = notStarted;
    if (request.signal !== undefined) this.#subscribe(request.signal);
    return slot;
  }

  /** Starts counting its deadline. */
  start(slot: number): void {
    this.#ticksLeft[slot] = ticksPerTimeout + 1;
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMillis).unref();
  }

  /** Frees the slot; to be called once. */
  remove(slot: number): void {
    const signal = this.#slots[slot]?.signal;
    this.#slots[slot] = null;
    this.#freeSlots.push(slot);
    if (signal !== undefined) this.#unsubscribe(signal);
  }

  #subscribe(signal: AbortSignal): void {
    const subscription = this.#subscriptions.get(signal);
    if (subscription !== undefined) {
      subscription.requests++;
      return;
    }
    const listener = () => {
      for (const request of this.#slots) if (request?.signal === signal) request.cancel();
    };
    this.#subscriptions.set(signal, { requests: 1, listener });
    signal.addEventListener("abort", listener);
  }

  #unsubscribe(signal: AbortSignal): void {
    const subscription = this.#subscriptions.get(signal);
    if (subscription === undefined || --subscription.requests > 0) return;
    this.#subscriptions.delete(signal);
    signal.removeEventListener("abort", subscription.listener);
  }

  #tick(): void {
    if (this.#freeSlots.length === this.#slots.length) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const [slot, request] of this.#slots.entries()) {
      const ticks = this.#ticksLeft[slot] ?? notStarted;
      if (request === null || ticks === notStarted) continue;
      this.#ticksLeft[slot] = ticks > 1 ? ticks - 1 : notStarted;
      if (ticks === 1) request.expire();
    }
  }
}
