/** Why a sync could not do what was asked, after everything that it did get was saved. */
export type SyncErrorCode = "not-authenticated" | "nothing-fetched" | "unknown-brand" | "unknown-link";

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
