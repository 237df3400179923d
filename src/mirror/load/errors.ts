/** The errors of loading snapshots. */
import { errorClass } from "../../platform/errors.ts";

/** Why a snapshot is refused; nothing is changed then. */
export class SnapshotError extends errorClass("SnapshotError", {
  /** It is of another service than the mirror, or than another snapshot. */
  "other-service": "rejected",
  /** It adds to a snapshot that is not loaded. */
  gap: "rejected",
  /** A published folder is older than what was loaded from it. */
  "rolled-back": "rejected",
  /** A published folder continues something else than what was loaded from it. */
  "other-line": "rejected",
  /** The service has contradicted it. */
  condemned: "rejected",
}) {}
