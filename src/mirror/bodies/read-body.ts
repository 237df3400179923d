/** Reading bodies, whatever form they are stored in. Everything that needs a body has it from here. */
import { hash } from "node:crypto";
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError } from "../file/errors.ts";
import { decodeBody, type StoredBody } from "./compression.ts";

/** Gives the bytes as sent. @throws DamagedBodyError */
export type ReadBody = (stored: StoredBody) => Buffer;

/** A dictionary never changes and its id is never given to another one, so each is read once. */
export function prepareReadBody(db: Connection): ReadBody {
  if (!hasDictionaries(db)) return (stored) => decodeBody(stored, null);
  const select = db.prepare<[number], Buffer>("select body from _dictionary where id = ?").pluck();
  const dictionaries = new Map<number, Buffer>();
  const dictionaryOf = (id: number): Buffer => {
    const dictionary = dictionaries.get(id) ?? select.get(id);
    if (dictionary === undefined) throw new DamagedBodyError(`its dictionary ${id} is not there`);
    dictionaries.set(id, dictionary);
    return dictionary;
  };
  return (stored) =>
    decodeBody(stored, stored.dictionaryId === null ? null : dictionaryOf(stored.dictionaryId));
}

/**
 * Gives the bytes as sent, which are proven to be those.
 * @param sha256 that they had when they were stored, in lower-case hexadecimal
 * @throws DamagedBodyError
 */
export type ReadProvenBody = (stored: StoredBody, sha256: string) => Buffer;

export function prepareReadProvenBody(db: Connection): ReadProvenBody {
  const readBody = prepareReadBody(db);
  return (stored, sha256) => {
    const body = readBody(stored);
    if (body.byteLength !== stored.size || hash("sha256", body) !== sha256)
      throw new DamagedBodyError("the body does not have its SHA-256");
    return body;
  };
}

/** The columns of a `StoredBody`, from `_content` under this alias; also in a mirror that no version with dictionaries has written. */
export function storedBodyColumns(db: Connection, alias: string): string {
  const dictionaryId = hasDictionaries(db) ? `${alias}.dictionary_id` : "null";
  return `${alias}.codec, ${alias}.size, ${alias}.body, ${dictionaryId} as dictionaryId`;
}

export function hasDictionaries(db: Connection): boolean {
  return db.prepare("select 1 from sqlite_schema where name = '_dictionary'").get() !== undefined;
}

/** Every body as it was sent, those of earlier revisions too, in no particular order. @throws DamagedBodyError */
export function* readBodies(db: Connection): Generator<Buffer> {
  const readBody = prepareReadBody(db);
  const select = db.prepare<[], StoredBody>(`select ${storedBodyColumns(db, "c")} from _content c`);
  for (const stored of select.iterate()) yield readBody(stored);
}

/** In how many pages of the file there is nothing any more, but perhaps the bytes of what was. */
export function countFreePages(db: Connection): number {
  return Number(db.pragma("freelist_count", { simple: true }));
}
