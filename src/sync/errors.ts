import { errorClass } from "../platform/errors.ts";

/** Why a sync ended early; everything fetched before is saved. */
export class SyncError extends errorClass("SyncError", {
  "not-authenticated": "settings",
  /** The token belongs to another user than the mirror. */
  "other-user": "settings",
  /** The service has no such user, or does not identify the user. */
  "no-user": "settings",
  "nothing-fetched": "failed",
  /** The service contradicts a loaded snapshot. */
  condemned: "rejected",
  "unknown-brand": "usage",
  "unknown-link": "usage",
}) {}

export type SyncErrorCode = SyncError["code"];
