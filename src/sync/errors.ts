import { errorClass } from "../platform/errors.ts";

/** Why a sync ended early; everything fetched until then is saved. */
export class SyncError extends errorClass("SyncError", {
  "not-authenticated": "settings",
  /** The token belongs to another user than the mirror. */
  "other-user": "settings",
  /** The service says that there is no such user, or does not say who it is. */
  "no-user": "settings",
  "nothing-fetched": "failed",
  "unknown-brand": "usage",
  "unknown-link": "usage",
}) {}

export type SyncErrorCode = SyncError["code"];
