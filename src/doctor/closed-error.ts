/** There is something in a file that cannot be looked into; its message says why. */
export class ClosedError extends Error {
  override readonly name = "ClosedError";
}
