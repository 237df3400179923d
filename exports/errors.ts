export type ExportErrorCode =
  /** The place is taken by something that no export put there, or holds files of others. */
  | "not-a-package"
  | "symbolic-link"
  /** Of ours, but its manifest cannot be read. */
  | "damaged-package"
  | "newer-package"
  | "bad-table-name"
  | "write-failed";

/** An export could not be written or read; `hint` says what to do next. */
export class ExportError extends Error {
  override readonly name = "ExportError";
  readonly code: ExportErrorCode;
  readonly hint: string;
  constructor(code: ExportErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}
