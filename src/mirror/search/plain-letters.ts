/** Letters that are not made of another one and an accent, and that many keyboards lack. */

const plainLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ħ: "h",
  þ: "th",
  ı: "i",
  // The form of a letter at the end of a Greek word.
  ς: "σ",
};

const special = new RegExp(`[${Object.keys(plainLetters).join("")}]`, "gu");

/** @param text in lower case */
export function toPlainLetters(text: string): string {
  return text.replace(special, (letter) => plainLetters[letter] ?? letter);
}
