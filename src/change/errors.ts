export type ChangeErrorCode =
  /** No table, field or brand is called so. */
  | "unknown-name"
  /** A point without what it is a point of. */
  | "bad-point"
  /** No run is at that point. */
  | "no-such-run"
  /** The two are of different base URLs, so that no resource is in both. */
  | "two-services"
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
