import { errorClass } from "../platform/errors.ts";

/** What can be wrong with an account. No message holds a token. */
export class AccountError extends errorClass("AccountError", {
  "bad-name": "usage",
  unknown: "usage",
  /** The name belongs to another user, or the user already has another name. */
  taken: "settings",
  /** The service rejects the token. */
  refused: "settings",
  /** The service does not say whose token it is. */
  unidentified: "failed",
  /** The stored token is missing or cannot be read. */
  "no-token": "settings",
  damaged: "damaged",
  newer: "damaged",
}) {}
