export type PointErrorCode =
  /** It names no point, however the mirror is. */
  | "syntax"
  /** The mirror has no run of that number, or it is still going on. */
  | "no-such-run"
  /** A retention policy let go of that run. */
  | "forgotten"
  /** No run had ended by then. */
  | "too-early";

/** What was given as a point in time is none, or none of this mirror. */
export class PointError extends Error {
  override readonly name = "PointError";
  readonly code: PointErrorCode;
  readonly hint: string;
  constructor(code: PointErrorCode, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
