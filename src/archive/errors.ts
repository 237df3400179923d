import { errorClass } from "../platform/errors.ts";

/** What can be wrong with a backup; each message names the file. */
export class BackupError extends errorClass("BackupError", {
  /** Its content differs from what was written, or it is no backup. */
  damaged: "rejected",
  /** It has another format, or is of a mirror whose tables this version does not know. */
  "other-version": "rejected",
  /** It is a snapshot instead of a backup, or the other way around. */
  "other-contents": "rejected",
  /** What the mirror holds must not be shared. */
  "not-shareable": "rejected",
  /** It is encrypted, and no passphrase was given. */
  "needs-passphrase": "settings",
  /** The passphrase does not open it, or its header is damaged. */
  "wrong-passphrase": "settings",
  /** A new passphrase is too short to protect anything. */
  "weak-passphrase": "usage",
  /** A published folder is signed with another key. */
  "other-key": "settings",
  /** It is of another user or service than expected. */
  "other-account": "settings",
  /** The destination exists. */
  exists: "failed",
  "not-found": "failed",
  /** The destination is no folder, or its file name has the wrong extension. */
  "wrong-place": "usage",
  unreadable: "failed",
  "write-failed": "failed",
  "too-big": "failed",
  /** The mirror is empty. */
  "nothing-held": "failed",
}) {}

/** Of the file of a key with which snapshots are signed. */
export class SigningKeyError extends errorClass("SigningKeyError", {
  exists: "failed",
  "not-found": "failed",
  "not-a-key": "settings",
}) {}
