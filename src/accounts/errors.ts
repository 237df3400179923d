import { errorClass } from "../platform/errors.ts";

/** An account cannot be used. No message contains a token. */
export class AccountError extends errorClass("AccountError", {
  "bad-name": "usage",
  unknown: "usage",
  /** The name belongs to another user, or the user already has another name. */
  taken: "settings",
  /** The service rejects the token. */
  refused: "settings",
  /** The service does not identify the token's user. */
  unidentified: "failed",
  /** The stored token is missing or cannot be read. */
  "no-token": "settings",
  damaged: "damaged",
  newer: "damaged",
}) {}
