import { errorClass } from "../platform/errors.ts";

/** What can be wrong with a schedule. No message holds a secret. */
export class ScheduleError extends errorClass("ScheduleError", {
  "bad-name": "usage",
  /** The cron expression, the time zone, or both together never come due. */
  "bad-time": "usage",
  unknown: "usage",
  taken: "usage",
  "too-many": "failed",
  /** The system's scheduler cannot express it. */
  inexpressible: "failed",
  damaged: "damaged",
  newer: "damaged",
  /** Another scheduler runs these schedules. */
  busy: "locked",
}) {}
