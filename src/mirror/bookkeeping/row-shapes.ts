/**
 * What each column of a backup's bookkeeping may hold. Only values that a mirror can hold pass: a restored mirror is read by
 * the same code as any other, which does not expect anything else.
 */
import { z } from "zod";
import { count, id, json, kind, metaShapes, runTime, text, time } from "../rows/stored-shapes.ts";
import { isCoverage, isRunReport, isRunScope } from "../rows/stored-values.ts";

/** A number that a body states, which may be any. */
const stated = z.int();
const flag = z.literal([0, 1]);

const requestHeader = z.string().regex(/^[\x20-\x7e]*$/);
const responseHeader = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const state = z.enum(["due", "held", "failed", "elsewhere", "superseded", "gone"]);

export interface ShapeContext {
  /** Of the service. */
  readonly origin: string;
  /** Keys of `_meta` that a backup does not hold. */
  readonly excludedMeta: readonly string[];
}

/** An address of the service, as `resolveLink` writes it. */
const urlOf = (origin: string) =>
  z.string().refine((value) => URL.parse(value)?.href === value && value.startsWith(`${origin}/`));

/** A resource of a shared snapshot, before its body is read. @param origin of the service */
export const snapshotResourceShape = (origin: string) =>
  z.looseObject({
    url: urlOf(origin),
    kind,
    finalUrl: urlOf(origin).optional(),
    status: z.int().min(200).max(299),
    etag: requestHeader.nullable(),
    headers: z.looseObject({
      sentAt: time.nullable(),
      modifiedAt: time.nullable(),
      contentType: responseHeader.nullable(),
      link: responseHeader.nullable(),
    }),
    fetchedAt: time,
    goneAt: time.nullable(),
  });

/** By table, the columns of a row: those of the mirror's table, with the SHA-256 of its body in a revision. */
export function rowShapes({ origin, excludedMeta }: ShapeContext) {
  const url = urlOf(origin);
  /** Of a picture, at any host. */
  const anyUrl = z.string().refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""));
  const metaValues: Readonly<Record<string, z.ZodType>> = { ...metaShapes, me_url: url };
  return {
    drift: z.strictObject({
      kind,
      pointer: text,
      code: z.enum(["unknown-field", "unknown-link", "wrong-type"]),
      first_run: id,
    }),
    first_derivation: z.strictObject({ id, run: id }),
    headers: z.strictObject({ id, content_type: responseHeader.nullable(), link: responseHeader.nullable() }),
    issue: z.strictObject({
      resource_id: id,
      pointer: text,
      code: z.enum(["page-loop", "partial-listing"]),
      detail: text.nullable(),
      run_id: id,
    }),
    linked_check: z.strictObject({
      resource_id: id,
      seq: id.nullable(),
      checked_run: count,
      checked_at: time.nullable(),
    }),
    loaded: z.strictObject({
      resource_id: id,
      seq: id,
      snapshot_id: id,
      etag: requestHeader.nullable(),
      sampled: flag,
      validator_run: id.nullable(),
      bytes_run: id.nullable(),
    }),
    media: z.strictObject({
      id,
      url: anyUrl,
      etag: requestHeader.nullable(),
      last_modified: requestHeader.nullable(),
      checked_at: time.nullable(),
      error: text.nullable(),
    }),
    media_file: z.strictObject({ media_id: id, seq: id, sha256, type: text, size: count, fetched_at: time }),
    media_use: z.strictObject({ resource_id: id, field: text, media_id: id, is_current: flag }),
    meta: z
      .strictObject({ key: text, value: text })
      .refine(({ key }) => !excludedMeta.includes(key))
      .refine(
        ({ key, value }) => !Object.hasOwn(metaValues, key) || metaValues[key]?.safeParse(value).success,
      ),
    page: z.strictObject({
      id,
      collection_id: id,
      next_id: id.nullable(),
      total: stated.nullable(),
      page_total: stated.nullable(),
      doubt: z.enum(["other-page", "other-address"]).nullable(),
    }),
    pass: z.strictObject({
      collection_id: id,
      status: z.enum(["open", "partial"]),
      from_run: id,
      reread_run: id.nullable(),
      page_versions: text.nullable(),
    }),
    resource: z.strictObject({
      id,
      url,
      kind,
      owner_id: id.nullable(),
      state,
      etag: requestHeader.nullable(),
      checked_run: count,
      last_checked_run: count,
      fetched_run: count,
      checked_at: time.nullable(),
      first_run: id,
      gone_run: id.nullable(),
      absent_run: id.nullable(),
      absent_by: z.enum(["response", "listing", "parent"]).nullable(),
      attempts: count,
      error: text.nullable(),
      retry_at: time.nullable(),
    }),
    resource_past: z.strictObject({
      id,
      to_run: id,
      kind,
      owner_id: id.nullable(),
      state,
      gone_run: id.nullable(),
    }),
    revision: z.strictObject({
      resource_id: id,
      seq: id,
      sha256,
      from_run: id,
      to_run: id.nullable(),
      status: z.int().min(100).max(999),
      fetched_at: time,
      base_url: url.nullable(),
      sent_at: time.nullable(),
      modified_at: time.nullable(),
      headers_id: id.nullable(),
      etag: requestHeader.nullable(),
      seen_run: count.nullable(),
      seen_at: time.nullable(),
    }),
    run: z.strictObject({
      id,
      started_at: runTime,
      ended_at: runTime.nullable(),
      mode: z.enum(["incremental", "verify", "full", "load"]),
      scope_json: json(isRunScope),
      stopped: z.enum(["budget", "allowance", "interrupted", "approval", "error"]).nullable(),
      counts_json: json(isRunReport).nullable(),
      coverage_json: json(isCoverage).nullable(),
      pruned_at: runTime.nullable(),
    }),
    snapshot: z.strictObject({
      id,
      root_hash: sha256,
      taken_on: time,
      seen_by: z.enum(["none", "app", "token"]),
      source: text,
      signed_by: text.nullable(),
      sequence: count.nullable(),
      validators: z.enum(["used", "withheld"]),
      sample_seed: text.nullable(),
      sample_size: count,
      condemned_at: time.nullable(),
      condemned_by: url.nullable(),
    }),
  };
}
