/** What can be wrong with a schedule; each error says what, and what to do next. None ever holds a secret. */
export type ScheduleErrorCode =
  | "bad-name"
  /** The cron expression, the zone, or both together: they never come due. */
  | "bad-time"
  | "unknown"
  | "taken"
  | "too-many"
  /** The system's own scheduler has no way to say it. */
  | "inexpressible"
  | "damaged"
  | "newer"
  | "busy";

export class ScheduleError extends Error {
  override readonly name = "ScheduleError";
  readonly code: ScheduleErrorCode;
  readonly hint: string;
  constructor(code: ScheduleErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}
