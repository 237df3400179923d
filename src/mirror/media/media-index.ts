/**
 * The index of pictures: which field of which resource refers to which address, and the files downloaded from there. Earlier
 * references and earlier files stay in it.
 */
import { type SqlBool, sql } from "kysely";
import { parseJsonBytesOrThrow } from "../../../schema/json.ts";
import { eachCurrentRevision } from "../bodies/read-revisions.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { pictureReferencesIn } from "./picture-references.ts";

export interface KnownPicture {
  readonly id: number;
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Of the last downloaded file, in lower-case hexadecimal; null before the first. */
  readonly sha256: string | null;
  readonly type: string | null;
  readonly size: number | null;
}

/** The result of requesting a picture; its bytes are stored in a file already. */
export type PictureResult = { readonly id: number; readonly at: number } & (
  | {
      readonly outcome: "picture";
      readonly sha256: string;
      readonly type: string;
      readonly size: number;
      readonly etag: string | null;
      readonly lastModified: string | null;
    }
  | { readonly outcome: "not-modified"; readonly etag: string | null; readonly lastModified: string | null }
  /** Nothing to store; an earlier file stays. */
  | { readonly outcome: "none"; readonly error: string }
);

/** The error of a picture that is gone. */
export const goneError = (status: 404 | 410): string => `answered ${status}`;

/** The kinds whose bodies refer to pictures that are downloaded. */
const owners = new Set(["me", "bras", "bra"]);

/** Indexes the picture references of the newest bodies, those of tombstones included. Call it inside a transaction. */
export function notePictures(db: Connection): void {
  const insert = prepare(db, (p: { url: string }) =>
    q
      .insertInto("_media")
      .values({ url: p.url })
      .onConflict((conflict) => conflict.column("url").doNothing()),
  );
  const insertUse = prepare(db, (p: { resourceId: number; field: string; url: string }) =>
    q
      .insertInto("_media_use")
      .columns(["resource_id", "field", "media_id", "is_current"])
      .expression((eb) =>
        eb
          .selectFrom("_media")
          .select([
            sql<number>`${p.resourceId}`.as("resource_id"),
            sql<string>`${p.field}`.as("field"),
            "id",
            sql<1>`1`.as("is_current"),
          ])
          .where("url", "=", p.url),
      )
      .onConflict((conflict) =>
        conflict.columns(["resource_id", "field", "media_id"]).doUpdateSet({ is_current: 1 }),
      ),
  );
  prepare(db, () => q.updateTable("_media_use").set({ is_current: 0 })).run();
  for (const { resource, readBody } of eachCurrentRevision(db)) {
    if (!owners.has(resource.kind)) continue;
    const { value } = parseJsonBytesOrThrow(readBody());
    for (const { field, url } of pictureReferencesIn(value, resource.baseUrl)) {
      insert.run({ url });
      insertUse.run({ resourceId: resource.id, field, url });
    }
  }
}

/** The pictures with a current reference. */
const selectCurrent = () =>
  q
    .selectFrom("_media as m")
    .where("m.id", "in", (eb) => eb.selectFrom("_media_use").select("media_id").where("is_current", "=", 1));

/** Lists the pictures with a current reference, in the order of their addresses. */
export function listPictures(db: Connection): KnownPicture[] {
  const select = prepare(db, () =>
    selectCurrent()
      .leftJoin("_media_file as f", (join) =>
        join
          .onRef("f.media_id", "=", "m.id")
          .on(sql<SqlBool>`f.seq = (select max(seq) from _media_file where media_id = m.id)`),
      )
      .select(["m.id", "m.url", "m.etag", "m.last_modified as lastModified", "f.type", "f.size"])
      .select(sql<string | null>`iif(f.sha256 is null, null, lower(hex(f.sha256)))`.as("sha256"))
      .orderBy("m.url"),
  );
  return select.all();
}

/** The number of pictures with a current reference. */
export interface PictureCounts {
  /** Pictures with a downloaded file. */
  readonly held: number;
  /** Never requested. */
  readonly due: number;
  /** Without a file, since their last request failed. */
  readonly failed: number;
}

/** Counts pictures, without those that were gone before they were downloaded. */
export function countPictures(db: Connection): PictureCounts {
  const counts = { held: 0, due: 0, failed: 0 };
  const select = prepareColumn(db, () =>
    selectCurrent()
      .select(
        sql<keyof PictureCounts>`case
          when m.id in (select media_id from _media_file) then 'held' when m.error is null then 'due' else 'failed' end`.as(
          "state",
        ),
      )
      .where((eb) =>
        eb.or([
          eb("m.id", "in", eb.selectFrom("_media_file").select("media_id")),
          eb("m.error", "is", null),
          eb("m.error", "not in", [goneError(404), goneError(410)]),
        ]),
      ),
  );
  for (const state of select.iterate()) counts[state]++;
  return counts;
}

/** The size of all downloaded files, in bytes. */
export function totalMediaBytes(db: Connection): number {
  const select = prepareColumn(db, () =>
    q
      .selectFrom((eb) => eb.selectFrom("_media_file").select(["sha256", "size"]).distinct().as("f"))
      .select(({ fn }) => fn.sum<number | null>("f.size").as("bytes")),
  );
  return select.get() ?? 0;
}

/** Records the result of a request. Call it inside a transaction. @returns whether a new file became current */
export function recordPicture(db: Connection, result: PictureResult): boolean {
  const { id, at } = result;
  if (result.outcome === "none") {
    prepare(db, (p: { id: number; at: number; error: string }) =>
      q.updateTable("_media").set({ checked_at: p.at, error: p.error }).where("id", "=", p.id),
    ).run({ id, at, error: result.error });
    return false;
  }
  const { etag, lastModified } = result;
  prepare(db, (p: { id: number; at: number; etag: string | null; lastModified: string | null }) =>
    q
      .updateTable("_media")
      .set({ etag: p.etag, last_modified: p.lastModified, checked_at: p.at, error: null })
      .where("id", "=", p.id),
  ).run({ id, at, etag, lastModified });
  return result.outcome === "picture" && recordFile(db, result);
}

type PictureFile = Extract<PictureResult, { outcome: "picture" }>;

function recordFile(db: Connection, { id, at, type, size, ...result }: PictureFile): boolean {
  const sha256 = Buffer.from(result.sha256, "hex");
  const current = prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_media_file")
      .select(["seq", "sha256"])
      .where("media_id", "=", p.id)
      .orderBy("seq", "desc")
      .limit(1),
  ).get({ id });
  if (current?.sha256.equals(sha256)) return false;
  prepare(db, (p: { id: number; seq: number; sha256: Buffer; type: string; size: number; at: number }) =>
    q.insertInto("_media_file").values({
      media_id: p.id,
      seq: p.seq,
      sha256: p.sha256,
      type: p.type,
      size: p.size,
      fetched_at: p.at,
    }),
  ).run({ id, seq: (current?.seq ?? 0) + 1, sha256, type, size, at });
  return true;
}
