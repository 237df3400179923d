/** What an account may be called. A name is also a folder's name, on every platform, so it is short and plain. */
import { AccountError } from "./account-error.ts";

const plain = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const windowsDevice = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/** @throws AccountError `bad-name`, which does not show the name: it may be a token in the wrong place */
export function requireAccountName(name: string): void {
  if (looksLikeToken(name)) {
    throw new AccountError(
      "bad-name",
      "What stands in the place of the account's name looks like a token, so it is not shown here.",
      "A token belongs on the prompt, into --token-stdin or --token-file; others may read the command line, so get a new one.",
    );
  }
  if (isAccountName(name)) return;
  throw new AccountError(
    "bad-name",
    "That is no name for an account.",
    "It may have up to 32 of a-z, 0-9, _ and -, begins with a letter or digit, and is no device of Windows such as con or nul.",
  );
}

/** What the catalogue's own requests are sent as, where an account's are sent as its name. */
export const cataloguePrincipal = "catalogue";

/** For an account that is to be made. @throws AccountError `bad-name` as `requireAccountName` does, and for what is reserved */
export function requireNewAccountName(name: string): void {
  requireAccountName(name);
  if (name !== cataloguePrincipal) return;
  throw new AccountError(
    "bad-name",
    `No account can be called ${cataloguePrincipal}: workers know the service's catalogue by this name.`,
    "Choose another name.",
  );
}

export function isAccountName(name: string): boolean {
  return plain.test(name) && !windowsDevice.test(name);
}

/** Whether a word on the command line may be a secret: a long run of letters and digits, or a UUID. */
export function looksLikeToken(word: string): boolean {
  const runs = word.match(/[a-z\d]{16,}/gi) ?? [];
  return (
    runs.some((run) => /\d/.test(run) && /[a-z]/i.test(run)) ||
    /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/i.test(word)
  );
}
