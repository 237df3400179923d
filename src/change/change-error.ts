export type ChangeErrorCode =
  /** No table, field or brand is called so. */
  | "unknown-name"
  /** A point without what it is a point of, or a time with a zone where the service's have none. */
  | "bad-point"
  | "bad-time"
  /** No run is at that point. */
  | "no-such-run"
  /** Nothing in both that could be compared. */
  | "not-comparable";

/** Two states could not be compared; `hint` says what to do next. */
export class ChangeError extends Error {
  override readonly name = "ChangeError";
  readonly code: ChangeErrorCode;
  readonly hint: string;
  constructor(code: ChangeErrorCode, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
