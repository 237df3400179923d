/** What keeps something from being looked into; `format` is one that this program does not know. */
export type ClosedReason = "encrypted" | "damaged" | "format" | "free-pages";

/** There is something in a file that cannot be looked into; its message says why. */
export class ClosedError extends Error {
  override readonly name = "ClosedError";
  readonly reason: ClosedReason;
  constructor(reason: ClosedReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
