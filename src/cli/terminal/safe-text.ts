/**
 * Text from the service, from files and from arguments, made safe to show. Escaped characters are written as JSON does,
 * such as `\u001b`.
 */
import { stripVTControlCharacters } from "node:util";
import { maxSliceLength, slicesOf } from "../../../exports/formats/escaped-text.ts";

/** Characters that control a terminal, are invisible, turn text around, or are half a character. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const unsafeInLines = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** One value on one line: line ends and unsafe characters are escaped, control sequences are removed, null is empty. */
export function escapeControls(value: unknown): string {
  if (value === null || value === undefined) return "";
  return escapeEach(stripVTControlCharacters(String(value)), unsafe);
}

/**
 * Any printed text: unsafe characters are escaped, except line ends and tabs. JSON stays the same value, since these
 * characters occur only in its strings.
 */
export function escapeLines(text: string): string {
  return escapeEach(text, unsafeInLines);
}

/** In slices: for each character that a function replaces, V8 keeps more than a hundred bytes until the end. */
function escapeEach(text: string, characters: RegExp): string {
  if (text.length <= maxSliceLength) return text.replace(characters, escapeCharacter);
  const escapeSlice = (whole: string, from: number, to: number) =>
    whole.slice(from, to).replace(characters, escapeCharacter);
  return [...slicesOf(text, escapeSlice)].join("");
}

function escapeCharacter(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  let escaped = "";
  for (let index = 0; index < character.length; index++)
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  return escaped;
}
