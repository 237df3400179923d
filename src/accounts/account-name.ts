/** Which names an account may have, and how a token in place of a name is noticed. */
import { AccountError } from "./errors.ts";

// A name is also the name of a folder, on every platform.
const plain = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const windowsDevice = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/** @throws AccountError `bad-name`; the message does not contain the name, which may be a misplaced token */
export function requireAccountName(name: string): void {
  if (looksLikeToken(name)) {
    throw new AccountError(
      "bad-name",
      "The account's name looks like a token, so it is not shown here.",
      "Give a token at the prompt, or with --token-stdin or --token-file. Others may have read the command line: get a new token.",
    );
  }
  if (isAccountName(name)) return;
  throw new AccountError(
    "bad-name",
    "This is not a valid account name.",
    "Use 1 to 32 of a-z, 0-9, _ and -, beginning with a letter or digit, and no Windows device name such as con or nul.",
  );
}

/** The principal of requests for the catalogue. The principal of an account is its name. */
export const cataloguePrincipal = "catalogue";

/** For a new account. @throws AccountError `bad-name`, also for a reserved name */
export function requireNewAccountName(name: string): void {
  requireAccountName(name);
  if (name !== cataloguePrincipal) return;
  throw new AccountError(
    "bad-name",
    `The name ${cataloguePrincipal} is reserved for the service's catalogue.`,
    "Choose another name.",
  );
}

export function isAccountName(name: string): boolean {
  return plain.test(name) && !windowsDevice.test(name);
}

/** Whether a word on the command line may be a secret: a long sequence of letters and digits, or a UUID. */
export function looksLikeToken(word: string): boolean {
  const runs = word.match(/[a-z\d]{16,}/gi) ?? [];
  return (
    runs.some((run) => /\d/.test(run) && /[a-z]/i.test(run)) ||
    /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/i.test(word)
  );
}
