export type RedisErrorCode = "bad-address" | "unreachable" | "unsuitable";

/** Why a Redis cannot carry jobs. Its address is shown without user and password. */
export class RedisError extends Error {
  override readonly name = "RedisError";
  readonly code: RedisErrorCode;
  readonly hint: string;

  constructor(code: RedisErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}
