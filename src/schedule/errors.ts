import { errorClass } from "../platform/errors.ts";

/** Why a schedule cannot be added, read or run. No message contains a secret. */
export class ScheduleError extends errorClass("ScheduleError", {
  "bad-name": "usage",
  /** The cron expression or the time zone is invalid, or never due. */
  "bad-time": "usage",
  unknown: "usage",
  taken: "usage",
  "too-many": "failed",
  /** The scheduler of the operating system cannot express it. */
  inexpressible: "failed",
  /** There is no scheduler that schedules can be installed in. */
  unsupported: "failed",
  /** A command of the operating system failed. */
  "not-installed": "failed",
  damaged: "damaged",
  newer: "damaged",
  /** The address for metrics cannot be used. */
  "cannot-listen": "failed",
  /** Another scheduler runs these schedules. */
  busy: "locked",
}) {}
