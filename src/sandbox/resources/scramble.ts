/**
 * Turns two 32-bit numbers into sixteen hexadecimal digits that say nothing, and back: a four-round Feistel network.
 * Opaque addresses and cursors need no table this way, even for a hundred thousand resources.
 */
import { mixBits } from "../random.ts";

const rounds = [1, 2, 3, 4] as const;

export function scramble(key: number, left: number, right: number): string {
  for (const round of rounds) [left, right] = [right, (left ^ mixBits(right, key + round)) >>> 0];
  return hex(left) + hex(right);
}

/** @returns null when the text is not sixteen hexadecimal digits */
export function unscramble(key: number, text: string): [left: number, right: number] | null {
  if (!/^[0-9a-f]{16}$/.test(text)) return null;
  let left = Number.parseInt(text.slice(0, 8), 16);
  let right = Number.parseInt(text.slice(8), 16);
  for (const round of rounds.toReversed()) [left, right] = [(right ^ mixBits(left, key + round)) >>> 0, left];
  return [left, right];
}

function hex(value: number): string {
  return value.toString(16).padStart(8, "0");
}
