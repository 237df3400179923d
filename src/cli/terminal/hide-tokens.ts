import { looksLikeToken } from "../../accounts/account-name.ts";

/** What commander says of wrong usage quotes what was given, which may be a secret in the wrong place. */
export function hideTokens(text: string): string {
  return text
    .replace(/'(--[^\s'=]+)=[\s\S]*?'(?=\n|$| is| argument)/g, "'$1'")
    .replace(/[^\s',;:]+/g, (word) => (looksLikeToken(word) ? "[hidden]" : word));
}
