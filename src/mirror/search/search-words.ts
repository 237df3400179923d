/**
 * Words, for searching: one rule for what is searched and for what is asked. In: text of any script. Out: its words in
 * a form in which accents, case and width make no difference. Pure.
 */
import { toPlainLetters } from "../../platform/fuzzy-names.ts";

/**
 * What a word is made of. One of a script that is written without spaces is cut into characters, so that any part of it
 * is found; so are pictures and signs.
 */
export type Word = readonly string[];

const unspacedScripts = "Han Hiragana Katakana Bopomofo Hangul Thai Lao Khmer Myanmar"
  .split(" ")
  .map((script) => `\\p{scx=${script}}`)
  .join("");
const unspaced = `[[${unspacedScripts}]&&[\\p{L}\\p{N}\\p{M}]]`;
const picture = "[\\p{S}--\\p{ASCII}]";
const wordPattern = new RegExp(`[[\\p{L}\\p{N}\\p{M}]--${unspaced}]+|[${unspaced}${picture}]+`, "gv");
const cutPattern = new RegExp(`^[${unspaced}${picture}]`, "v");

/** Joiners, marks of direction, soft hyphens, the choice of a picture's style, the Arabic stretch: seen, but not typed. */
const unwritten = /[\p{Cf}\p{Variation_Selector}\u0640]/gu;
/** Elsewhere a mark makes another letter: a vowel in Thai, a voiced sound in Japanese. */
const accented = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Arabic}\p{sc=Hebrew}])\p{Mn}+/gu;
/** The words of a text, in their order. Text without any, such as `???`, is one word of all that it is made of. */
export function toWords(text: string): Word[] {
  const plain = fold(text);
  const words = (plain.match(wordPattern) ?? []).map((word) => (cutPattern.test(word) ? [...word] : [word]));
  if (words.length > 0) return words;
  const signs = [...plain].filter((sign) => /[\p{P}\p{S}]/u.test(sign));
  return signs.length > 0 ? [signs.map(toWide)] : [];
}

/**
 * What is searched of a resource: a line for each text that says more than those before it, between line ends, and words
 * between spaces, so that a whole text and a whole word can be told by what is around them. Empty where there are no words.
 */
export function toSearchText(texts: readonly string[]): string {
  const lines: string[] = [];
  for (const text of texts) {
    const line = toPhrase(toWords(text));
    if (line !== "" && !lines.includes(line) && line !== lines.join(" ")) lines.push(line);
  }
  return lines.length === 0 ? "" : `\n${lines.map((line) => ` ${line} \n`).join("")}`;
}

/** Words as they stand in a search text. */
export function toPhrase(words: readonly Word[]): string {
  return words.flat().join(" ");
}

function fold(text: string): string {
  // Most text, and what follows would not change it.
  if (/^\p{ASCII}*$/u.test(text)) return text.toLowerCase();
  const cased = text
    .replace(/\p{Cs}/gu, " ")
    .normalize("NFKD")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase();
  return toPlainLetters(
    cased.normalize("NFKD").replace(unwritten, "").replace(accented, "$1").normalize("NFC"),
  );
}

/** The index takes every ASCII sign for a space; its wide form never stands in a folded text. */
function toWide(sign: string): string {
  return /[!-~]/.test(sign) ? String.fromCodePoint((sign.codePointAt(0) ?? 0) + 0xfee0) : sign;
}
