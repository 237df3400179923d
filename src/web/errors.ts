/** The errors of the server, and what pages and downloads say about any error. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { MirrorError } from "../mirror/file/errors.ts";
import { PointError } from "../mirror/points/point.ts";
import { ArmoireError, errorClass } from "../platform/errors.ts";
import { KeyError } from "../query/keys/resolve-key.ts";
import { QueryError } from "../query/sql/errors.ts";

/** Why the server cannot start, or refuses a statement. */
export class WebError extends errorClass("WebError", {
  "cannot-listen": "failed",
  /** As many statements as allowed are running. */
  busy: "failed",
  /** A statement in a link of another site. */
  "from-elsewhere": "usage",
}) {}

/** After status 503, a client may ask again in this time. */
export const retryAfterSeconds = 5;

export interface Description {
  readonly status: ContentfulStatusCode;
  readonly title: string;
  readonly message: string;
  readonly hint: string;
  readonly code: string;
}

/** What a page, a download or the API says about an error, and its status. */
export function describeError(error: unknown): Description {
  if (!(error instanceof ArmoireError)) {
    const hint = "The output of `armoire serve` has the reason.";
    return { status: 500, title: "Failed", message: "The page could not be made.", hint, code: "failed" };
  }
  const { message, hint, code } = error;
  const common = { message, hint, code };
  if (error instanceof WebError && error.code === "busy") return { status: 503, title: "Busy", ...common };
  if (error instanceof WebError && error.code === "from-elsewhere")
    return { status: 403, title: "Not run", ...common };
  if (error instanceof QueryError)
    return { status: error.kind === "usage" ? 400 : 422, title: "No answer", ...common };
  if (error instanceof KeyError) return { status: 404, title: "Not found", ...common };
  if (error instanceof PointError)
    return { status: error.code === "syntax" ? 400 : 404, title: "No such point in time", ...common };
  if (error instanceof MirrorError && error.code === "not-found")
    return { status: 200, title: "Nothing is held yet", ...common };
  if (error.kind === "usage") return { status: 400, title: "Not understood", ...common };
  if (error.kind === "locked") return { status: 503, title: "The mirror is locked", ...common };
  return { status: 500, title: "The mirror cannot be read", ...common };
}
