/** Mirrors without compressed bodies, as after a run that was interrupted early. */
import { prepareReadBody } from "../../../src/mirror/bodies/read-body.ts";
import type { Connection } from "../../../src/mirror/file/connection.ts";

/** Stores all bodies uncompressed. @param from the mirror to read them from (default: the same one) */
export function storeUncompressed(db: Connection, from: Connection = db): void {
  const readBody = prepareReadBody(from);
  const stored = from
    .prepare<[], Parameters<typeof readBody>[0] & { id: number }>(
      `select c.id, c.codec, c.size, c.body, c.dictionary_id as dictionaryId from _content c where c.codec <> 'identity'`,
    )
    .all();
  const update = db.prepare("update main._content set codec = 'identity', body = ? where id = ?");
  for (const { id, ...body } of stored) update.run(readBody(body), id);
}

/** Removes all traces of compression. A writer that has the mirror open must reopen it, since it caches dictionaries. */
export function removeCompression(db: Connection): void {
  storeUncompressed(db);
  db.exec("update _content set dictionary_id = null");
  db.exec("delete from _dictionary; delete from _meta where key = 'compressed_content'");
}
