/** A request that is under way, as whoever may end it sees it. */
export interface Cancellable {
  readonly signal: AbortSignal | undefined;
  /** It has taken too long as a whole. */
  expire(): void;
  /** Its signal has aborted. */
  cancel(): void;
}

/** A signal that something under way is ended by. */
interface Heard {
  /** How many. */
  underWay: number;
  readonly listener: () => void;
}

const ticksInTimeout = 20;
const notBegun = -1;

/**
 * What is under way, and what may end it: the total deadline, kept by one coarse timer, and the callers' signals, each
 * heard by one listener. The timer counts ticks, so a changed system clock does not matter; it fires up to a tenth late and
 * never early.
 *
 * Each request has a place that another one has after it. In a Map, or in a listener of its own, it would stay reachable
 * when it has ended, from what V8 has moved to its old generation and not collected yet, and everything it refers to with
 * it: a crawl would spend a tenth of its time on collecting that.
 */
export class DeadlineTimer {
  readonly #places: (Cancellable | null)[] = [];
  readonly #ticksLeft: number[] = [];
  readonly #freePlaces: number[] = [];
  readonly #heard = new Map<AbortSignal, Heard>();
  readonly #tickMillis: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMillis: number) {
    this.#tickMillis = Math.max(1, Math.ceil(timeoutMillis / ticksInTimeout));
  }

  /** @returns its place, to be given back by `remove` */
  add(endable: Cancellable): number {
    const place = this.#freePlaces.pop() ?? this.#places.length;
    this.#places[place] = endable;
    this.#ticksLeft[place] = notBegun;
    if (endable.signal !== undefined) this.#hear(endable.signal);
    return place;
  }

  /** Its deadline is counted from now on. */
  begin(place: number): void {
    this.#ticksLeft[place] = ticksInTimeout + 1;
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMillis).unref();
  }

  /** To be called once for what is at the place. */
  remove(place: number): void {
    const signal = this.#places[place]?.signal;
    this.#places[place] = null;
    this.#freePlaces.push(place);
    if (signal !== undefined) this.#hearLess(signal);
  }

  #hear(signal: AbortSignal): void {
    const heard = this.#heard.get(signal);
    if (heard !== undefined) {
      heard.underWay++;
      return;
    }
    const listener = () => {
      for (const endable of this.#places) if (endable?.signal === signal) endable.cancel();
    };
    this.#heard.set(signal, { underWay: 1, listener });
    signal.addEventListener("abort", listener);
  }

  #hearLess(signal: AbortSignal): void {
    const heard = this.#heard.get(signal);
    if (heard === undefined || --heard.underWay > 0) return;
    this.#heard.delete(signal);
    signal.removeEventListener("abort", heard.listener);
  }

  #tick(): void {
    if (this.#freePlaces.length === this.#places.length) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const [place, endable] of this.#places.entries()) {
      const ticks = this.#ticksLeft[place] ?? notBegun;
      if (endable === null || ticks === notBegun) continue;
      this.#ticksLeft[place] = ticks > 1 ? ticks - 1 : notBegun;
      if (ticks === 1) endable.expire();
    }
  }
}
