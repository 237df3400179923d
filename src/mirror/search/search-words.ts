/**
 * Splits text into words for search, with the same rules for documents and queries. In: text of any script. Out: its words
 * without differences of accent, case and width. Pure.
 */
import { limits } from "../../../schema/input/limits.ts";
import { toPlainLetters } from "../../platform/text/fuzzy-names.ts";

/**
 * The parts of a word. In scripts without spaces, each character is a part, so that any part of a text is found. The same
 * holds for pictures and symbols. Other words have one part.
 */
export type Word = readonly string[];

const unspacedScripts = "Han Hiragana Katakana Bopomofo Hangul Thai Lao Khmer Myanmar"
  .split(" ")
  .map((script) => `\\p{scx=${script}}`)
  .join("");
const unspaced = `[[${unspacedScripts}]&&[\\p{L}\\p{N}\\p{M}]]`;
const symbol = "[\\p{S}--\\p{ASCII}]";
// Compiled at first use, since it takes milliseconds: most texts are ASCII.
let patterns: { readonly word: RegExp; readonly split: RegExp } | undefined;
const compilePatterns = () => ({
  word: new RegExp(`[[\\p{L}\\p{N}\\p{M}]--${unspaced}]+|[${unspaced}${symbol}]+`, "gv"),
  split: new RegExp(`^[${unspaced}${symbol}]`, "v"),
});
const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

/** Characters that users do not type: joiners, direction marks, soft hyphens, variation selectors, the Arabic tatweel. */
const untyped = /[\p{Cf}\p{Variation_Selector}\u0640]/gu;
/** Scripts in which marks are accents. In others they form another letter, as a vowel in Thai or a voiced sound in Japanese. */
const accented = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Arabic}\p{sc=Hebrew}])\p{Mn}+/gu;

/** The words of a text, in order. A text without words, such as `???`, is one word of all its signs. */
export function toWords(text: string): Word[] {
  const plain = fold(text);
  const words = isAscii(plain) ? plain.match(/[a-z0-9]+/g)?.map((word) => [word]) : splitWords(plain);
  if (words !== undefined && words.length > 0) return words;
  const signs = [...plain].filter((sign) => /[\p{P}\p{S}]/u.test(sign));
  return signs.length > 0 ? [signs.map(toWide)] : [];
}

function splitWords(plain: string): Word[] {
  patterns ??= compilePatterns();
  const { word, split } = patterns;
  return (plain.match(word) ?? []).map((found) => (split.test(found) ? [...found] : [found]));
}

/**
 * The search text of a resource: one line for each text that the lines before do not contain. Words are between spaces and
 * lines between line ends, so that queries can match whole words and whole texts. Empty if there are no words. Only so many
 * texts, and so much of each, as the limits allow.
 */
export function toSearchText(texts: readonly string[]): string {
  const lines = new Set<string>();
  let all = "";
  for (const text of texts) {
    const line = toPhrase(toWords(text.slice(0, limits.nameLength)));
    if (line === "" || line === all || lines.has(line)) continue;
    if (lines.size === limits.searchedNames) break;
    lines.add(line);
    all = all === "" ? line : `${all} ${line}`;
  }
  return lines.size === 0 ? "" : `\n${[...lines].map((line) => ` ${line} \n`).join("")}`;
}

/** Words as they appear in a search text. */
export function toPhrase(words: readonly Word[]): string {
  return words.flat().join(" ");
}

function fold(text: string): string {
  // Most texts are ASCII, and the steps below would not change them.
  if (isAscii(text)) return text.toLowerCase();
  const cased = text
    .replace(/\p{Cs}/gu, " ")
    .normalize("NFKD")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase();
  return toPlainLetters(
    cased.normalize("NFKD").replace(untyped, "").replace(accented, "$1").normalize("NFC"),
  );
}

/** The index treats ASCII punctuation as spaces. The wide form replaces it: a folded text never contains it otherwise. */
function toWide(sign: string): string {
  return /[!-~]/.test(sign) ? String.fromCodePoint((sign.codePointAt(0) ?? 0) + 0xfee0) : sign;
}
