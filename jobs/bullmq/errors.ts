export type RedisErrorCode = "bad-address" | "unreachable" | "unsuitable";

/** @param error what a command failed with, or BullMQ while it takes jobs */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.includes("OOM command not allowed");
}

/** Hears what failed, and says so where Redis takes nothing more. */
export function tellOfFull(onRemark: (text: string) => void): (error: unknown) => void {
  return (error) => {
    if (isOutOfMemory(error)) onRemark(fullRemark);
  };
}

/** What to say of one that takes nothing more. */
export const fullRemark =
  "Redis is full, so that nothing goes on: give it more memory (maxmemory), or let it forget what is not Armoire's.";

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
