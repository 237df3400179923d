import { errorClass } from "../platform/errors.ts";

/** Why two states cannot be compared, or their changes not passed on. */
export class ChangeError extends errorClass("ChangeError", {
  /** No table, field or brand has this name. */
  "unknown-name": "usage",
  /** A point that does not say which mirror or export it belongs to. */
  "bad-point": "usage",
  /** No run ended at or before that point. */
  "no-such-run": "failed",
  /** The two have different base URLs, so they have no resource in common. */
  "two-services": "usage",
  /** They have no table in common, or an export has only some rows. */
  "not-comparable": "failed",
  /** A command that was to read the changes could not be started, or failed. */
  "command-failed": "failed",
}) {}
