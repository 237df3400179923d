/**
 * What each column of a backup's bookkeeping may hold. Only values that a mirror can hold pass: a restored mirror is read by
 * the same code as any other, which does not expect anything else.
 */
import { z } from "zod";
import { isUnknownKind, kindNames, unknownItemKind } from "../../../schema/kind.ts";

/** Far more than a mirror can hold; further numbers follow the highest one, and all of them must stay exact. */
const maxId = 2 ** 40;

const id = z.int().min(1).max(maxId);
const count = z.int().min(0).max(maxId);
/** A number that a body states, which may be any. */
const stated = z.int();
const flag = z.literal([0, 1]);

const text = z.string().refine((value) => value.isWellFormed());
const requestHeader = z.string().regex(/^[\x20-\x7e]*$/);
const responseHeader = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Of a run: ISO 8601, UTC. */
const runTime = z.iso.datetime();

/** As `toISOString` and `isoTimeOf` write it. */
const time = z.string().refine((value) => {
  const millis = Date.parse(value);
  return value.length === 24 && !Number.isNaN(millis) && new Date(millis).toISOString() === value;
});

const kind = z.string().refine((value) => value.isWellFormed() && isKind(value));
const isKind = (value: string) => isUnknownKind(value) || knownKinds.has(value);
const knownKinds: ReadonlySet<string> = new Set(kindNames.flatMap((name) => [name, unknownItemKind(name)]));

const state = z.enum(["due", "held", "failed", "elsewhere", "superseded", "gone"]);

/** Text in JSON of this shape. */
const json = (shape: z.ZodType) =>
  z.string().refine((value) => shape.safeParse(parseOrUndefined(value)).success);

function parseOrUndefined(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** `RunCounts`, and the message of the error that stopped the run. Further counts are allowed. */
const runReport = z.looseObject({
  requests: z.looseObject({ sent: count, counted: count, notModified: count }).nullable(),
  resources: z.looseObject({
    ...{ new: count, changed: count, unchanged: count, gone: count, failed: count.nullable() },
    ...{ awaitingApproval: count.optional(), partial: count.optional() },
    ...{ pending: count.optional(), notChecked: count.optional() },
  }),
  error: z.string().optional(),
});

/** `KindCoverage` of each kind. */
const coverage = z.array(
  z.looseObject({
    kind,
    ...{ known: count, held: count, due: count, failed: count, gone: count, partial: count },
    ...{ missingLinks: count.default(0), awaitingApproval: count },
    ...{ oldestCheckAt: time.nullable(), newestCheckAt: time.nullable() },
  }),
);

const runNumbers = json(z.record(z.string(), id));
const runNumber = z.string().regex(/^[1-9]\d{0,11}$/);

export interface ShapeContext {
  /** Of the service. */
  readonly origin: string;
  /** Keys of `_meta` that a backup does not hold. */
  readonly excludedMeta: readonly string[];
}

/** By table, the columns of a row: those of the mirror's table, with the SHA-256 of its body in a revision. */
export function rowShapes({ origin, excludedMeta }: ShapeContext) {
  /** An address of the service, as `resolveLink` writes it. */
  const url = z
    .string()
    .refine((value) => URL.parse(value)?.href === value && value.startsWith(`${origin}/`));
  /** Of a picture, at any host. */
  const anyUrl = z.string().refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""));
  const metaValues: Readonly<Record<string, z.ZodType>> = {
    mirror_id: z.string().regex(/^[\w-]{1,100}$/),
    user_id: text,
    username: text,
    me_url: url,
    with_catalogue: z.literal("true"),
    cycle_run: runNumber,
    cycle_mode: z.enum(["verify", "full"]),
    refused_bras: time,
    refused_measurements: time,
    followed_links: runNumbers,
    approved_empty_lists: runNumbers,
  };
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
      scope_json: json(z.looseObject({})),
      stopped: z.enum(["budget", "allowance", "interrupted", "approval", "error"]).nullable(),
      counts_json: json(runReport).nullable(),
      coverage_json: json(coverage).nullable(),
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
