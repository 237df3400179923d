/** Passphrases of random words, which are easy to write down. */
import { randomInt } from "node:crypto";
import { shortWords } from "../../archive/signatures/short-words.ts";

/** Six of them have 62 bits of entropy. @returns for example `gown fling sandy rug moth acorn` */
export function suggestPassphrase(): string {
  return Array.from({ length: 6 }, () => shortWords[randomInt(shortWords.length)]).join(" ");
}
