/** What can be wrong with an account; each error says what, and what to do next. None ever holds a token. */
import { isSystemError } from "../mirror/file/system-error.ts";

export type AccountErrorCode =
  | "bad-name"
  | "unknown"
  /** The name belongs to another user, or the user has another name. */
  | "taken"
  /** The service does not accept the token. */
  | "refused"
  /** The service does not say whose token it is. */
  | "unidentified"
  /** The token that was kept is not there, or cannot be had. */
  | "no-token"
  /** Others could read or change what must be the user's own. */
  | "unsafe"
  | "damaged"
  | "newer"
  | "busy"
  | "unwritable";

export class AccountError extends Error {
  override readonly name = "AccountError";
  readonly code: AccountErrorCode;
  readonly hint: string;
  constructor(code: AccountErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}

/** Turns what the system throws into an AccountError; anything else is thrown on as it is. */
export function toAccountError(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  return new AccountError(
    "unwritable",
    `Cannot read or write ${path} (${error.code}).`,
    "Check the folder, its permissions and free space.",
    { cause: error },
  );
}
