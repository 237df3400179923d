import { errorClass } from "../src/platform/errors.ts";

/** Why an export cannot be written or read. */
export class ExportError extends errorClass("ExportError", {
  /** The destination holds something other than an export, or files of others beside it. */
  "not-a-package": "failed",
  "symbolic-link": "failed",
  /** An export whose descriptor cannot be read. */
  "damaged-package": "rejected",
  "newer-package": "rejected",
  /** The folder to read, or the one to write into. */
  "no-folder": "failed",
  "bad-table-name": "usage",
  "bad-folder-name": "usage",
  /** There is no such brand or column, or the tables have none. */
  "bad-selection": "usage",
  /** Not one SQL condition, or without one table. */
  "bad-condition": "usage",
  /** Others write the mirror faster than a condition can be evaluated. */
  changing: "failed",
  /** The mirror has no ended run. */
  "nothing-held": "failed",
  "write-failed": "failed",
  /** The mirror is not complete, and the caller requires that. */
  incomplete: "incomplete",
}) {}
