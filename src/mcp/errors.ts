import { errorClass } from "../platform/errors.ts";

/** A mirror cannot be offered over the Model Context Protocol. */
export class McpError extends errorClass("McpError", {
  "not-installed": "settings",
  /** The mirror is an account's, and the caller did not ask for one. */
  "private-mirror": "usage",
  /** A message is too long, or the output cannot be written. */
  broken: "failed",
}) {}
