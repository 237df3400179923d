/** What can be wrong with a backup; each error says which file, and what to do next. */
export type BackupErrorCode =
  /** Some of it is not what was written, or it never was a backup. */
  | "damaged"
  | "newer"
  /** It is encrypted, and no passphrase was given. */
  | "needs-passphrase"
  /** It does not open with the passphrase, or the part of it that would is damaged. */
  | "wrong-passphrase"
  /** It is of another user or service than it should be. */
  | "other-account"
  /** The place is taken. */
  | "exists"
  | "not-found"
  /** A new backup cannot be there: it is no folder, or has the ending of another sort of backup. */
  | "wrong-place"
  | "unreadable"
  | "write-failed"
  | "too-big"
  /** The mirror holds nothing yet. */
  | "nothing-held";

export class BackupError extends Error {
  override readonly name = "BackupError";
  readonly code: BackupErrorCode;
  readonly hint: string;
  constructor(code: BackupErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}
