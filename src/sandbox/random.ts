/**
 * The sandbox's only source of randomness: mulberry32, seeded from the sandbox's seed and a stream's name. Each brand,
 * model, size and step has its own stream, so that none depends on the draws of another.
 */

/** Mixes two 32-bit integers into one (MurmurHash3's finaliser), deterministically. */
export function mixBits(left: number, right: number): number {
  let bits = Math.imul(left ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(right ^ 0x7f4a7c15, 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

export class Random {
  #state: number;

  /** @param stream integers that name the stream, for example a kind's code and an id */
  constructor(seed: number, ...stream: readonly number[]) {
    this.#state = stream.reduce(mixBits, mixBits(seed | 0, Math.floor(seed / 2 ** 32)));
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), bits | 61)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer in [0, bound). */
  integer(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws RangeError for an empty list */
  pick<Item>(list: readonly Item[]): Item {
    const index = this.integer(list.length);
    if (index >= list.length) throw new RangeError("nothing to pick from");
    return list[index] as Item;
  }

  /** Hexadecimal digits, for tokens and codes. */
  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.integer(16).toString(16)).join("");
  }
}

/** The first part of a stream's name: its user. */
export const streams = {
  brand: 1,
  model: 2,
  size: 3,
  sizesPerModel: 4,
  step: 5,
  user: 6,
  app: 7,
  bra: 8,
  measurement: 9,
  fault: 10,
} as const;
