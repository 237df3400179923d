/**
 * The life of one resource: when it was there, when it was gone, and what changed in between, field by field; where the
 * mirror is shown as of a point, as it was known then.
 */

import { isoTimeOf } from "../../schema/tables.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { type Fields, type FieldValue, readFieldHistory } from "./field-history.ts";
import { findResource, type ShownKind } from "./resolve-key.ts";

export interface ResourceHistory {
  readonly kind: ShownKind;
  readonly href: string;
  /** When something first led to it. */
  readonly firstKnown: RunTime;
  /** Each ends with a tombstone, but for the last one of what is there. */
  readonly lives: readonly Life[];
}

export interface RunTime {
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export interface Life {
  readonly revisions: readonly RevisionOfLife[];
  /** The run that found it gone, and when that began; null while it is there. */
  readonly gone: RunTime | null;
}

export interface RevisionOfLife {
  /** From 1, and on over all lives. */
  readonly revision: number;
  /** So many revisions just before it are forgotten. */
  readonly forgotten: number;
  readonly firstSeen: RunTime;
  /**
   * When the service was last asked and it was still this one; null where that is not remembered: by an earlier version, or
   * as of a point since which it was asked again.
   */
  readonly lastSeen: RunTime | null;
  /** From the revision before that is remembered; of the first such one, all that it has. */
  readonly changes: readonly FieldChange[];
  /** Null where there are changes. */
  readonly unchanged: Unchanged | null;
}

/**
 * Why nothing changed in the fields: another revision of the same run followed, and only that one's fields are remembered;
 * or the body is the one that was there before; or only links or fields changed that this version does not know.
 */
export type Unchanged = "replaced" | "same" | "unread";

export interface FieldChange {
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}

interface RevisionRow {
  readonly seq: number;
  readonly fromRun: number;
  readonly fetchedAt: string;
  readonly toRun: number | null;
  readonly goneAt: string | null;
  readonly seenRun: number | null;
  readonly seenAt: string | null;
  readonly contentId: number;
}

/**
 * @param key null for the only one of its kind
 * @throws KeyError when the key finds none, or several
 */
export function readHistory(mirror: MirrorReader, kind: ShownKind, key: string | null): ResourceHistory {
  const { db, asOf } = mirror;
  const { href } = findResource(mirror, kind, key);
  const resource = db
    .prepare<[string], RunTime & { readonly id: number }>(
      `select r.id, r.first_run as run, f.started_at as at from _resource r join _run f on f.id = r.first_run
       where r.url = ?`,
    )
    .get(href);
  if (resource === undefined) throw new Error(`${href} has a row and is not known`);
  const { id, ...firstKnown } = resource;
  // What is current was seen whenever it was checked, unless the last answer was that it is gone.
  const rows = db
    .prepare<[number], RevisionRow>(
      `select v.seq, v.from_run as fromRun, ${isoTimeOf("v.fetched_at")} as fetchedAt, v.to_run as toRun, g.started_at as goneAt, v.content_id as contentId,
         iif(v.to_run is null and r.absent_by is not 'answer', r.last_checked_run, v.seen_run) as seenRun,
         ${isoTimeOf("iif(v.to_run is null and r.absent_by is not 'answer', r.checked_at, v.seen_at)")} as seenAt
       from _revision v join _resource r on r.id = v.resource_id left join _run g on g.id = v.to_run
       where v.resource_id = ? order by v.seq`,
    )
    .all(id);
  const end = asOf === null ? null : asOf.run + 1;
  return { kind, href, firstKnown, lives: livesOf(rows, end, readFieldHistory(db, kind, id)) };
}

/** @param end the run before which it is told; null to the present */
function livesOf(
  rows: readonly RevisionRow[],
  end: number | null,
  fieldsBefore: (run: number | null) => Fields | null,
): Life[] {
  const lives: Life[] = [];
  let revisions: RevisionOfLife[] = [];
  let before: Fields = {};
  let contentBefore: number | null = null;
  for (const [index, row] of rows.entries()) {
    const next = rows[index + 1];
    const after = fieldsBefore(next?.fromRun ?? end) ?? before;
    const { seq, fromRun, fetchedAt, toRun, goneAt, seenRun, seenAt, contentId } = row;
    const changes = changesBetween(before, after);
    const isReplaced = next?.fromRun === fromRun;
    const why = isReplaced ? "replaced" : contentId === contentBefore ? "same" : "unread";
    revisions.push({
      revision: seq,
      forgotten: seq - (rows[index - 1]?.seq ?? 0) - 1,
      firstSeen: { run: fromRun, at: fetchedAt },
      lastSeen: seenRun === null || seenAt === null ? null : { run: seenRun, at: seenAt },
      changes,
      unchanged: changes.length === 0 ? why : null,
    });
    before = after;
    if (!isReplaced) contentBefore = contentId;
    const isEnd = next === undefined || (toRun !== null && next.fromRun > toRun);
    if (!isEnd) continue;
    lives.push({ revisions, gone: toRun === null || goneAt === null ? null : { run: toRun, at: goneAt } });
    revisions = [];
  }
  return lives;
}

function changesBetween(before: Fields, after: Fields): FieldChange[] {
  return Object.keys(after)
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter(({ before: was, after: is }) => textOf(was) !== textOf(is));
}

const textOf = (value: FieldValue) =>
  JSON.stringify(value, (_key, cell) => (typeof cell === "bigint" ? `${cell}n` : cell));
