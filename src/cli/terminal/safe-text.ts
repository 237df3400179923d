/**
 * Text from the service, from files and from arguments, made safe to show. Escaped characters are written as JSON does,
 * such as `\u001b`.
 */
import { stripVTControlCharacters } from "node:util";

/** Characters that control a terminal, are invisible, turn text around, or are half a character. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const unsafeInLines = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** One value on one line: line ends and unsafe characters are escaped, control sequences are removed, null is empty. */
export function escapeControls(value: unknown): string {
  if (value === null || value === undefined) return "";
  return stripVTControlCharacters(String(value)).replace(unsafe, escapeCharacter);
}

/**
 * Any printed text: unsafe characters are escaped, except line ends and tabs. JSON stays the same value, since these
 * characters occur only in its strings.
 */
export function escapeLines(text: string): string {
  return text.replace(unsafeInLines, escapeCharacter);
}

function escapeCharacter(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  let escaped = "";
  for (let index = 0; index < character.length; index++)
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  return escaped;
}
