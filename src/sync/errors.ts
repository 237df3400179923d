/** Why a sync could not do what was asked, after everything that it did get was saved. */
export type SyncErrorCode =
  | "not-authenticated"
  /** The token is of another user than the mirror. */
  | "other-user"
  /** The service says that there is no such user, or does not say who it is. */
  | "no-user"
  | "nothing-fetched"
  | "unknown-brand"
  | "unknown-link";

export class SyncError extends Error {
  override readonly name = "SyncError";
  readonly code: SyncErrorCode;
  readonly hint: string;
  constructor(code: SyncErrorCode, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
