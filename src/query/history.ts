/**
 * The history of one resource: when it existed, when it was gone, and which fields changed in between. As of a point, what
 * was known then.
 */
import { sql } from "kysely";
import { resourceKey } from "../../schema/views/resource-key.ts";
import { prepare } from "../mirror/file/statements.ts";
import { prepareUnknownFields, type ReadUnknownFields } from "../mirror/past/unknown-fields.ts";
import { isoTime } from "../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { type Fields, type FieldsBefore, type FieldValue, readFieldHistory } from "./field-history.ts";
import type { ShownKind } from "./keys/find-by-key.ts";
import { findResource } from "./keys/resolve-key.ts";
import { q } from "./views.ts";

/** The revisions of a resource, oldest first. */
export interface ResourceHistory {
  readonly kind: ShownKind;
  /** Short: what `armoire show` takes. */
  readonly key: string;
  /** The URL of the resource. */
  readonly href: string;
  /** When it was first linked to. */
  readonly firstKnown: RunTime;
  /** Each ends with a tombstone, except the last one of a resource that exists. */
  readonly lives: readonly Life[];
}

export interface RunTime {
  /** The number of the run. */
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export interface Life {
  readonly revisions: readonly RevisionOfLife[];
  /** The run that found it gone, and when that run began; null while it exists. */
  readonly gone: RunTime | null;
}

export interface RevisionOfLife {
  /** Counted from 1 over all lives. */
  readonly revision: number;
  /** How many revisions just before it were pruned. */
  readonly pruned: number;
  /** When it was fetched. */
  readonly firstSeen: RunTime;
  /**
   * The last check that found this revision. Null if it is not recorded: by an earlier version of the program, or as of a
   * point after which it was checked again.
   */
  readonly lastSeen: RunTime | null;
  /** Compared with the revision before it that is not pruned; for the first one, all fields. */
  readonly changes: readonly FieldChange[];
  /** Null if there are changes. */
  readonly unchanged: Unchanged | null;
}

/**
 * Why no field changed. `replaced`: another revision of the same run followed, and only its fields are stored. `same`: the
 * body equals that of the revision before. `unread`: only links, or parts of lists unknown to this version, changed.
 */
export type Unchanged = "replaced" | "same" | "unread";

export interface FieldChange {
  /** The column of the kind's table. */
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}

/**
 * Reads all stored revisions of one resource, and what each of them changed.
 * @param key a URL, or a key such as `brand/model`; null for the only resource of the kind
 * @throws KeyError if the key matches no resource, or several
 */
export function readHistory(mirror: MirrorReader, kind: ShownKind, key: string | null): ResourceHistory {
  const { db, asOf } = mirror;
  const { href } = findResource(mirror, kind, key);
  const resource = prepare(db, (p: { href: string }) =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_run as f", "f.id", "r.first_run")
      .select(["r.id", "r.first_run as run", "f.started_at as at"])
      .select(sql<string | null>`${sql.raw(resourceKey("r"))}`.as("key"))
      .where("r.url", "=", p.href),
  ).get({ href });
  if (resource === undefined) throw new Error(`${href} has a row, but no resource`);
  const { id, key: shortKey, ...firstKnown } = resource;
  const fieldsBefore = readFieldHistory(db, kind, id);
  const endRun = asOf === null ? null : asOf.run + 1;
  const unknownFields = prepareUnknownFields(mirror, kind);
  const fields = { before: fieldsBefore, unknown: unknownFields };
  return {
    kind,
    key: shortKey ?? href,
    href,
    firstKnown,
    lives: livesOf(readRevisions(mirror, id), endRun, fields),
  };
}

/**
 * The resources, of those with these URLs, that have changed, gone or come back; those with the latest change first.
 * @param hrefs at most some hundreds
 */
export function findChanged({ db }: MirrorReader, hrefs: readonly string[]): string[] {
  return prepare(db, (p: { hrefs: string }) =>
    q
      .selectFrom("_revision as v")
      .innerJoin("_resource as r", "r.id", "v.resource_id")
      .select("r.url")
      .where(sql<boolean>`r.url in (select value from json_each(${p.hrefs}))`)
      .groupBy("r.id")
      .having(sql<boolean>`count(*) > 1 or max(v.to_run) is not null`)
      .orderBy(sql`max(max(v.from_run, coalesce(v.to_run, 0)))`, "desc")
      .orderBy("r.url"),
  )
    .all({ hrefs: JSON.stringify(hrefs) })
    .map(({ url }) => url);
}

/** Every check of a current revision found it, unless the last response was a 404 or 410. */
const isCurrent = "v.to_run is null and r.absent_by is not 'response'";

function readRevisions({ db }: MirrorReader, id: number) {
  return prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_revision as v")
      .innerJoin("_resource as r", "r.id", "v.resource_id")
      .leftJoin("_run as g", "g.id", "v.to_run")
      .select(["v.seq", "v.from_run as fromRun", "v.to_run as toRun", "v.content_id as contentId"])
      .select(["g.started_at as goneAt", isoTime<string>("v.fetched_at").as("fetchedAt")])
      .select([
        sql<number | null>`iif(${sql.raw(isCurrent)}, r.last_checked_run, v.seen_run)`.as("seenRun"),
        isoTime<string | null>(`iif(${isCurrent}, r.checked_at, v.seen_at)`).as("seenAt"),
      ])
      .where("v.resource_id", "=", p.id)
      .orderBy("v.seq"),
  ).all({ id });
}

/** @param endRun runs from this one on are left out; null for none */
function livesOf(
  rows: ReturnType<typeof readRevisions>,
  endRun: number | null,
  { before: fieldsBefore, unknown }: { readonly before: FieldsBefore; readonly unknown: ReadUnknownFields },
): Life[] {
  const lives: Life[] = [];
  let revisions: RevisionOfLife[] = [];
  let fields: Fields = {};
  let lastContentId: number | null = null;
  for (const [index, row] of rows.entries()) {
    const { seq, fromRun, fetchedAt, toRun, goneAt, seenRun, seenAt, contentId } = row;
    const previous = rows[index - 1];
    const next = rows[index + 1];
    const isReplaced = next?.fromRun === fromRun;
    const known = fieldsBefore(next?.fromRun ?? endRun);
    const nextFields = known === null || isReplaced ? fields : { ...known, ...unknown(contentId) };
    const changes = changesBetween(fields, nextFields);
    const reason = isReplaced ? "replaced" : contentId === lastContentId ? "same" : "unread";
    revisions.push({
      revision: seq,
      pruned: seq - (previous?.seq ?? 0) - 1,
      firstSeen: { run: fromRun, at: fetchedAt },
      lastSeen: seenRun === null || seenAt === null ? null : { run: seenRun, at: seenAt },
      changes,
      unchanged: changes.length === 0 ? reason : null,
    });
    fields = nextFields;
    if (!isReplaced) lastContentId = contentId;
    const endsLife = next === undefined || (toRun !== null && next.fromRun > toRun);
    if (!endsLife) continue;
    lives.push({ revisions, gone: toRun === null || goneAt === null ? null : { run: toRun, at: goneAt } });
    revisions = [];
  }
  return lives;
}

function changesBetween(before: Fields, after: Fields): FieldChange[] {
  return [...new Set([...Object.keys(after), ...Object.keys(before)])]
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter((change) => textOf(change.before) !== textOf(change.after));
}

const textOf = (value: FieldValue) =>
  JSON.stringify(value, (_key, cell) => (typeof cell === "bigint" ? `${cell}n` : cell));
