/** Formats JSON, and hides tokens in text. */
import { toJson } from "../../../exports/formats/json.ts";
import { looksLikeToken } from "../../accounts/account-name.ts";
import { escapeLines } from "./safe-text.ts";

/** A JSON document to print, with a line end. Characters that are unsafe on a terminal are escaped. */
export function toJsonLine(value: unknown): string {
  return escapeLines(`${toJson(value)}\n`);
}

/** For messages of commander, which quote arguments: one may be a misplaced secret. */
export function redactTokens(text: string): string {
  return hideOptionValues(text).replace(/[^\s',;:]+/g, (word) => (looksLikeToken(word) ? "[hidden]" : word));
}

/** `'--token=secret'` becomes `'--token'`. The value may contain quotes. */
function hideOptionValues(text: string): string {
  const option = /'(--[^\s'=]+)=/g;
  const end = /'(?=\n|$| is| argument)/g;
  let hidden = "";
  let from = 0;
  for (let found = option.exec(text); found !== null; found = option.exec(text)) {
    end.lastIndex = option.lastIndex;
    if (end.exec(text) === null) break;
    hidden += `${text.slice(from, found.index)}'${found[1]}'`;
    from = option.lastIndex = end.lastIndex;
  }
  return hidden + text.slice(from);
}
