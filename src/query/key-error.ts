/** Nothing, or more than one thing, is called so. */
export class KeyError extends Error {
  override readonly name = "KeyError";
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
