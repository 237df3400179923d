/** Reads stored bodies: decompresses them with their dictionary and, where required, checks their SHA-256. */
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError } from "../file/errors.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { decodeBody, decodeProvenBody, type StoredBody } from "./compression.ts";

/** The columns of a `StoredBody`, from `_content as c`. */
export const storedBodyColumns = ["c.codec", "c.size", "c.body", "c.dictionary_id as dictionaryId"] as const;

/** Returns the bytes as sent. @throws DamagedBodyError */
export type ReadBody = (stored: StoredBody) => Buffer;

/** The returned function caches dictionaries: one never changes, and its id is never reused. */
function prepareDictionaryOf(db: Connection): (id: number | null) => Buffer | null {
  const select = prepareColumn(db, (p: { id: number }) =>
    q.selectFrom("_dictionary").select("body").where("id", "=", p.id),
  );
  const dictionaries = new Map<number, Buffer>();
  return (id) => {
    if (id === null) return null;
    const dictionary = dictionaries.get(id) ?? select.get({ id });
    if (dictionary === undefined) throw new DamagedBodyError(`its dictionary ${id} is missing`);
    dictionaries.set(id, dictionary);
    return dictionary;
  };
}

export function prepareReadBody(db: Connection): ReadBody {
  const dictionaryOf = prepareDictionaryOf(db);
  return (stored) => decodeBody(stored, dictionaryOf(stored.dictionaryId));
}

/**
 * Returns the bytes as sent, after checking their length and SHA-256.
 * @param sha256 of the body as sent, in lower-case hexadecimal
 * @throws DamagedBodyError
 */
export type ReadProvenBody = (stored: StoredBody, sha256: string) => Buffer;

export function prepareReadProvenBody(db: Connection): ReadProvenBody {
  const dictionaryOf = prepareDictionaryOf(db);
  return (stored, sha256) => decodeProvenBody(stored, dictionaryOf(stored.dictionaryId), sha256);
}

/** Reads every body, earlier revisions included, in no particular order. @throws DamagedBodyError */
export function* readBodies(db: Connection): Generator<Buffer> {
  const readBody = prepareReadBody(db);
  const select = prepare(db, () => q.selectFrom("_content as c").select(storedBodyColumns));
  for (const stored of select.iterate()) yield readBody(stored);
}

/** The number of unused pages in the file, which may still contain the bytes of deleted rows. */
export function countFreePages(db: Connection): number {
  return Number(db.pragma("freelist_count", { simple: true }));
}
