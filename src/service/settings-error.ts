/** A setting that the door can't work with; its message never holds the value, which may be secret. */
export class ServiceSettingsError extends Error {
  override readonly name = "ServiceSettingsError";
  readonly code: "bad-base-url" | "bad-credential";
  readonly hint: string;
  constructor(code: "bad-base-url" | "bad-credential", message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
