/** Reads stored bodies: decompresses them with their dictionary and, where required, checks their SHA-256. */
import { hash } from "node:crypto";
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError } from "../file/errors.ts";
import { prepare, prepareColumn, q } from "../file/statements.ts";
import { decodeBody, type StoredBody } from "./compression.ts";

/** The columns of a `StoredBody`, from `_content as c`. */
export const storedBodyColumns = ["c.codec", "c.size", "c.body", "c.dictionary_id as dictionaryId"] as const;

/** Returns the bytes as sent. @throws DamagedBodyError */
export type ReadBody = (stored: StoredBody) => Buffer;

/** The returned function caches dictionaries: one never changes, and its id is never reused. */
export function prepareReadBody(db: Connection): ReadBody {
  const select = prepareColumn(db, (p: { id: number }) =>
    q.selectFrom("_dictionary").select("body").where("id", "=", p.id),
  );
  const dictionaries = new Map<number, Buffer>();
  const dictionaryOf = (id: number): Buffer => {
    const dictionary = dictionaries.get(id) ?? select.get({ id });
    if (dictionary === undefined) throw new DamagedBodyError(`its dictionary ${id} is missing`);
    dictionaries.set(id, dictionary);
    return dictionary;
  };
  return (stored) =>
    decodeBody(stored, stored.dictionaryId === null ? null : dictionaryOf(stored.dictionaryId));
}

/**
 * Returns the bytes as sent, after checking their length and SHA-256.
 * @param sha256 of the body as sent, in lower-case hexadecimal
 * @throws DamagedBodyError
 */
export type ReadProvenBody = (stored: StoredBody, sha256: string) => Buffer;

export function prepareReadProvenBody(db: Connection): ReadProvenBody {
  const readBody = prepareReadBody(db);
  return (stored, sha256) => {
    const body = readBody(stored);
    if (body.byteLength !== stored.size || hash("sha256", body) !== sha256)
      throw new DamagedBodyError("the body does not match its SHA-256");
    return body;
  };
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
