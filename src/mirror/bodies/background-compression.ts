/**
 * Compresses bodies that are already stored, in batches with a short transaction each. The progress is stored in the mirror,
 * so that after an interruption the next call continues there.
 */
import { hash } from "node:crypto";
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError } from "../file/errors.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { prepareInsertContent } from "./body-store.ts";
import { type Dictionary, encodeBody, type StoredBody } from "./compression.ts";
import type { Dictionaries } from "./dictionaries.ts";
import { prepareReadBody, storedBodyColumns } from "./read-body.ts";

export interface Compression {
  /** Compresses the next batch of bodies. @returns the number of bodies examined; 0 when all are done */
  compressBatch(): number;
  /** The number of bodies that `compressBatch` has not examined yet and that may become smaller. */
  countToCompress(): number;
  /** Renews the dictionaries and has all bodies examined again. */
  restart(): void;
  /** Removes dictionaries that no body uses. */
  removeUnused(): void;
}

interface PendingBody {
  readonly contentId: number;
  readonly kind: string;
}

type DictionaryOfKind = ReadonlyMap<string, Dictionary | null>;

/** About 20 ms: short for a concurrent reader, and long compared with a commit. */
const batchSize = 512;
/** Key in `_meta`: contents up to this id have been examined. Ids only grow. */
const examinedKey = "compressed_content";

export function prepareCompression(db: Connection, dictionaries: Dictionaries): Compression {
  const { selectNewest, selectContent, remove } = prepareStatements(db);
  const pending = preparePending(db);
  const insert = prepareInsertContent(db);
  const readBody = prepareReadBody(db);
  /** The last body of the last batch. */
  let lastId: number | null = null;

  /** A damaged body stays as it is: it may become readable again, for example when its dictionary is restored. */
  const readIfSound = (stored: StoredBody & { readonly sha256: Buffer }): Buffer | null => {
    try {
      const body = readBody(stored);
      return hash("sha256", body, "buffer").equals(stored.sha256) ? body : null;
    } catch (error) {
      if (!(error instanceof DamagedBodyError)) throw error;
      return null;
    }
  };

  const compress = (id: number, dictionary: Dictionary | null): void => {
    const stored = selectContent.get({ id });
    if (stored === undefined) return;
    const body = readIfSound(stored);
    const encoded = body && encodeBody(body, dictionary);
    if (encoded === null || hasSameEncoding(encoded, stored)) return;
    // An update would leave the page nearly empty for good. When a row is deleted, SQLite merges such pages.
    remove.run({ id });
    insert.run({ id, sha256: stored.sha256, size: stored.size, ...encoded });
  };

  const compressAll = db.transaction((batch: readonly PendingBody[], dictionaryOf: DictionaryOfKind) => {
    for (const { contentId, kind } of batch) compress(contentId, dictionaryOf.get(kind) ?? null);
    writeMeta(db, examinedKey, String(batch.at(-1)?.contentId));
  });

  const readExaminedId = () => Number(readMeta(db, examinedKey) ?? 0);

  return {
    countToCompress: () => pending.list(readExaminedId()),
    compressBatch() {
      const examinedId = readExaminedId();
      // Another id than the last one: all bodies are to be examined again, or this is the first batch.
      let batch = examinedId === lastId ? pending.next(examinedId) : [];
      if (batch.length === 0 && pending.list(examinedId) > 0) batch = pending.next(examinedId);
      if (batch.length === 0) {
        const newest = selectNewest.get() ?? 0;
        if (newest > examinedId) writeMeta(db, examinedKey, String(newest));
        return 0;
      }
      // Dictionaries are created outside the transaction: a rollback must not remove one that is cached.
      const kinds = new Set(batch.map(({ kind }) => kind));
      dictionaries.makeFor(kinds);
      const dictionaryOf = new Map([...kinds].map((kind) => [kind, dictionaries.of(kind)]));
      withoutForeignKeys(db, () => compressAll.immediate(batch, dictionaryOf));
      lastId = batch.at(-1)?.contentId ?? null;
      return batch.length;
    },
    restart() {
      dictionaries.renew();
      restartCompression(db);
    },
    removeUnused: () => dictionaries.removeUnused(),
  };
}

/** Has background compression examine all bodies again, from the first id. */
export function restartCompression(db: Connection): void {
  writeMeta(db, examinedKey, "0");
}

/**
 * Bodies without the newest dictionary of their kind; most have it since they arrived. They are listed once for all batches,
 * since that reads all revisions, and in a temporary table, since there may be millions. Raw SQL: that table is not typed.
 */
function preparePending(db: Connection) {
  const table = "temp._pending_content";
  return {
    /** Makes the list of those with greater ids. @returns their number */
    list(examinedId: number): number {
      db.exec(
        `create table if not exists ${table} (id integer primary key, kind text not null); delete from ${table}`,
      );
      const insert = db.prepare<{ examinedId: number }>(
        `insert or ignore into ${table} select c.id, r.kind
         from _revision v join _resource r on r.id = v.resource_id join _content c on c.id = v.content_id
         where v.content_id > :examinedId and (c.codec = 'identity'
           or c.dictionary_id is not (select max(id) from _dictionary where kind = r.kind))`,
      );
      return insert.run({ examinedId }).changes;
    },
    /** The next of the list. */
    next: (examinedId: number): PendingBody[] =>
      db
        .prepare<{ examinedId: number }, PendingBody>(
          `select id as contentId, kind from ${table} where id > :examinedId order by id limit ${batchSize}`,
        )
        .all({ examinedId }),
  };
}

function prepareStatements(db: Connection) {
  return {
    selectNewest: prepareColumn(db, () =>
      q.selectFrom("_content").select(({ fn }) => fn.max<number | null>("id").as("id")),
    ),
    selectContent: prepare(db, (p: { id: number }) =>
      q.selectFrom("_content as c").select("c.sha256").select(storedBodyColumns).where("c.id", "=", p.id),
    ),
    remove: prepare(db, (p: { id: number }) => q.deleteFrom("_content").where("id", "=", p.id)),
  };
}

const hasSameEncoding = (
  a: Pick<StoredBody, "codec" | "dictionaryId">,
  b: Pick<StoredBody, "codec" | "dictionaryId">,
): boolean => a.codec === b.codec && a.dictionaryId === b.dictionaryId;

/** For rows that return under the same id: a check of the references to each would read all revisions. */
function withoutForeignKeys(db: Connection, work: () => void): void {
  db.pragma("foreign_keys = off");
  try {
    work();
  } finally {
    db.pragma("foreign_keys = on");
  }
}
