/**
 * The index of pictures: which address is referred to by which field of which resource, and what was downloaded from there.
 * In: what bodies refer to, and answers. Out: rows. What is no longer referred to, and what a picture was before, stays.
 */
import { parseJsonBytesOrThrow } from "../../../schema/json.ts";
import { eachCurrentRevision } from "../bodies/read-revisions.ts";
import type { Connection } from "../file/connection.ts";
import { pictureReferencesIn } from "./picture-references.ts";

export interface KnownPicture {
  readonly id: number;
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** What was downloaded last, in lower-case hexadecimal; null before that. */
  readonly sha256: string | null;
  readonly size: number | null;
}

/** What asking for a picture brought; its bytes are in their file already. */
export type PictureAnswer = { readonly id: number; readonly at: number } & (
  | {
      readonly outcome: "picture";
      readonly sha256: string;
      readonly type: string;
      readonly size: number;
      readonly etag: string | null;
      readonly lastModified: string | null;
    }
  | { readonly outcome: "not-modified"; readonly etag: string | null; readonly lastModified: string | null }
  /** Why there is nothing to keep; what is kept stays. */
  | { readonly outcome: "none"; readonly error: string }
);

/** What is noted of a picture that is not there any more. */
export const goneError = (status: 404 | 410): string => `answered ${status}`;

/** The kinds whose bodies are looked at. */
const owners = new Set(["me", "bras", "bra"]);

/** Notes what the newest bodies refer to, those of tombstones included. Called inside a transaction. */
export function notePictures(db: Connection): void {
  const insert = db.prepare("insert into _media (url) values (?) on conflict (url) do nothing");
  const use = db.prepare(
    `insert into _media_use (resource_id, field, media_id, is_current)
     select ?, ?, id, 1 from _media where url = ?
     on conflict (resource_id, field, media_id) do update set is_current = 1`,
  );
  db.exec("update _media_use set is_current = 0");
  for (const { resource, readBody } of eachCurrentRevision(db)) {
    if (!owners.has(resource.kind)) continue;
    const { value } = parseJsonBytesOrThrow(readBody());
    for (const { field, url } of pictureReferencesIn(value, resource.baseUrl)) {
      insert.run(url);
      use.run(resource.id, field, url);
    }
  }
}

/** Those that something refers to now, in the order of their addresses. */
export function listPictures(db: Connection): KnownPicture[] {
  return db
    .prepare<[], KnownPicture>(
      `select m.id, m.url, m.etag, m.last_modified as lastModified, lower(hex(f.sha256)) as sha256, f.size
       from _media m left join _media_file f on f.media_id = m.id
         and f.seq = (select max(seq) from _media_file where media_id = m.id)
       where m.id in (select media_id from _media_use where is_current = 1) order by m.url`,
    )
    .all()
    .map(({ sha256, ...picture }) => ({ ...picture, sha256: sha256 || null }));
}

/** Of the pictures that something refers to now: those that are kept, those not asked for yet, and those that could not be had. */
export interface PictureCounts {
  readonly held: number;
  readonly due: number;
  readonly failed: number;
}

/** Without those that were gone before they could be kept. */
export function countPictures(db: Connection): PictureCounts {
  const counts = { held: 0, due: 0, failed: 0 };
  const rows = db
    .prepare<[string, string], keyof PictureCounts>(
      `select case when m.id in (select media_id from _media_file) then 'held' when m.error is null then 'due' else 'failed' end
       from _media m where m.id in (select media_id from _media_use where is_current = 1)
         and (m.id in (select media_id from _media_file) or m.error is null or m.error not in (?, ?))`,
    )
    .pluck();
  for (const state of rows.iterate(goneError(404), goneError(410))) counts[state]++;
  return counts;
}

/** Bytes of all pictures that are kept. */
export function totalMediaBytes(db: Connection): number {
  return (
    db
      .prepare<[], number>(
        "select coalesce(sum(size), 0) from (select distinct sha256, size from _media_file)",
      )
      .pluck()
      .get() ?? 0
  );
}

/** Called inside a transaction. @returns whether there is something else than before */
export function recordPicture(db: Connection, answer: PictureAnswer): boolean {
  const { id, at } = answer;
  if (answer.outcome === "none") {
    db.prepare("update _media set checked_at = ?, error = ? where id = ?").run(at, answer.error, id);
    return false;
  }
  const { etag, lastModified } = answer;
  db.prepare("update _media set etag = ?, last_modified = ?, checked_at = ?, error = null where id = ?").run(
    etag,
    lastModified,
    at,
    id,
  );
  if (answer.outcome === "not-modified") return false;
  const { sha256, type, size } = answer;
  return (
    db
      .prepare(
        `insert into _media_file (media_id, seq, sha256, type, size, fetched_at)
         select :id, coalesce(max(seq), 0) + 1, unhex(:sha256), :type, :size, :at from _media_file where media_id = :id
         having not exists (select 1 from _media_file f where f.media_id = :id and f.sha256 = unhex(:sha256)
           and f.seq = (select max(seq) from _media_file where media_id = :id))`,
      )
      .run({ id, sha256, type, size, at }).changes === 1
  );
}
