/** Entity tags, times of change, and the conditions of requests on them (RFC 9110, section 13). */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Options } from "./options.ts";

export interface Validators {
  readonly tag: string | undefined;
  /** Milliseconds, whole seconds. */
  readonly changedAt: number | undefined;
}

/** `responses` is the number of responses so far. */
export function makeValidators(
  body: string,
  changedAt: number | null,
  responses: number,
  { validators, rotatingTags }: Options,
): Validators {
  const digest = createHash("sha256").update(body).digest("base64").slice(0, 20);
  const hasTag = validators === "etag" || validators === "both";
  const hasTime = (validators === "last-modified" || validators === "both") && changedAt !== null;
  return {
    tag: hasTag ? `W/"${digest},${rotatingTags ? responses : "v"}"` : undefined,
    changedAt: hasTime ? Math.ceil((changedAt ?? 0) / 1000) * 1000 : undefined,
  };
}

export function validatorFields({ tag, changedAt }: Validators): Record<string, string> {
  return {
    ...(tag === undefined ? {} : { ETag: tag }),
    ...(changedAt === undefined ? {} : { "Last-Modified": new Date(changedAt).toUTCString() }),
  };
}

/** Whether the client holds this state of the document. `If-None-Match` decides when it is there. */
export function isUnchanged(headers: IncomingHttpHeaders, { tag, changedAt }: Validators): boolean {
  const tags = headers["if-none-match"];
  if (tags !== undefined) return tag !== undefined && readTags(tags).some((held) => weak(held) === weak(tag));
  const since = Date.parse(headers["if-modified-since"] ?? "");
  return changedAt !== undefined && !Number.isNaN(since) && changedAt <= since;
}

/** Tags may hold commas, so the list is not split at them. */
function readTags(text: string): string[] {
  return text.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];
}

function weak(tag: string): string {
  return tag.replace(/^W\//, "");
}
