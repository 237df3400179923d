/**
 * Compressing bodies that are stored already, some at a time, in short transactions: what it has come to is kept in the
 * mirror, so that whatever ends the work, the next call goes on there. In: nothing. Out: the same bodies in less room.
 */
import { hash } from "node:crypto";
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError } from "../file/errors.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { type Dictionary, packBody, type StoredBody } from "./compression.ts";
import type { Dictionaries } from "./dictionaries.ts";
import { prepareReadBody, storedBodyColumns } from "./read-body.ts";

export interface Compression {
  /** Compresses some of the bodies that were not looked at yet and may become smaller. @returns how many it looked at: none, when all are done */
  compressBatch(): number;
  /** How many bodies were not looked at yet and may become smaller. */
  countToCompress(): number;
  /** Makes better dictionaries where that pays, and others than may have in them what was forgotten; all bodies are looked at again. */
  beginAnew(): void;
  /** Removes the dictionaries that no body needs any more. */
  removeUnused(): void;
}

interface PendingBody {
  readonly contentId: number;
  readonly kind: string;
}

type DictionaryOfKind = ReadonlyMap<string, Dictionary | null>;

/** 20 ms or so: nobody waits for long, and a commit costs little beside it. */
const batchSize = 512;
/** Which kinds bodies are of is read for so many at a time: that takes a pass over all revisions. */
const pendingSize = 32 * batchSize;
/** In `_meta`: up to which id contents have been looked at. Ids only grow. */
const lookedAtKey = "compressed_content";

export function prepareCompression(db: Connection, dictionaries: Dictionaries): Compression {
  // Most came in when their kind had its dictionary already.
  const isPending = `from _revision v join _resource r on r.id = v.resource_id join _content c on c.id = v.content_id
     where v.content_id > ? and (c.codec = 'identity' or
       c.dictionary_id is not (select max(id) from _dictionary where kind = r.kind))`;
  const selectPending = db.prepare<[number], PendingBody>(
    `select distinct v.content_id as contentId, r.kind ${isPending} order by v.content_id limit ${pendingSize}`,
  );
  const countPending = db
    .prepare<[number], number>(`select count(distinct v.content_id) ${isPending}`)
    .pluck();
  const selectNewest = db.prepare<[], number | null>("select max(id) from _content").pluck();
  const selectStored = db.prepare<[number], StoredBody & { sha256: Buffer }>(
    `select c.sha256, ${storedBodyColumns(db, "c")} from _content c where c.id = ?`,
  );
  const remove = db.prepare("delete from _content where id = ?");
  const insert = db.prepare(
    "insert into _content (id, sha256, codec, size, body, dictionary_id) values (?, ?, ?, ?, ?, ?)",
  );
  const readBody = prepareReadBody(db);
  let pending: PendingBody[] = [];

  const compress = (contentId: number, dictionary: Dictionary | null): void => {
    const stored = selectStored.get(contentId);
    if (stored === undefined) return;
    const body = readSound(stored);
    const packed = body && packBody(body, dictionary);
    if (packed === null || isSameForm(packed, stored)) return;
    // An update would leave the page nearly empty for good; where a row is removed, SQLite joins such pages.
    remove.run(contentId);
    insert.run(contentId, stored.sha256, packed.codec, stored.size, packed.body, packed.dictionaryId);
  };

  /** What is damaged stays as it is: it may still be mended, such as by restoring its dictionary. */
  const readSound = (stored: StoredBody & { readonly sha256: Buffer }): Buffer | null => {
    try {
      const body = readBody(stored);
      return hash("sha256", body, "buffer").equals(stored.sha256) ? body : null;
    } catch (error) {
      if (!(error instanceof DamagedBodyError)) throw error;
      return null;
    }
  };

  const compressBatch = db.transaction((batch: readonly PendingBody[], dictionaryOf: DictionaryOfKind) => {
    for (const { contentId, kind } of batch) compress(contentId, dictionaryOf.get(kind) ?? null);
    writeMeta(db, lookedAtKey, String(batch.at(-1)?.contentId));
  });

  const lookedAt = () => Number(readMeta(db, lookedAtKey) ?? 0);

  return {
    countToCompress: () => countPending.get(lookedAt()) ?? 0,
    compressBatch() {
      if (pending.length === 0) pending = selectPending.all(lookedAt());
      if (pending.length === 0) {
        const newest = selectNewest.get() ?? 0;
        if (newest > lookedAt()) writeMeta(db, lookedAtKey, String(newest));
        return 0;
      }
      const batch = pending.slice(0, batchSize);
      // Dictionaries are made before the batch: what is remembered of one is in the mirror, whatever becomes of the batch.
      const ofBatch = new Set(batch.map(({ kind }) => kind));
      dictionaries.makeFor(ofBatch);
      const dictionaryOf = new Map([...ofBatch].map((kind) => [kind, dictionaries.of(kind)]));
      withoutForeignKeys(db, () => compressBatch.immediate(batch, dictionaryOf));
      pending = pending.slice(batchSize);
      return batch.length;
    },
    beginAnew() {
      dictionaries.renew();
      lookAtAllAgain(db);
      pending = [];
    },
    removeUnused: () => dictionaries.removeUnused(),
  };
}

/** All bodies that there are, and will be, are yet to be looked at. */
export function lookAtAllAgain(db: Connection): void {
  writeMeta(db, lookedAtKey, "0");
}

const isSameForm = (one: Pick<StoredBody, "codec" | "dictionaryId">, other: typeof one): boolean =>
  one.codec === other.codec && one.dictionaryId === other.dictionaryId;

/** For rows that come back under the same id: to look for references to each, SQLite would go through all revisions. */
function withoutForeignKeys(db: Connection, work: () => void): void {
  db.pragma("foreign_keys = off");
  try {
    work();
  } finally {
    db.pragma("foreign_keys = on");
  }
}
