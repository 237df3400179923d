/** Bodies as they lie in mirrors that were never compressed: those of early versions, and of runs that were interrupted at once. */
import { prepareReadBody } from "../../../src/mirror/bodies/read-body.ts";
import type { Connection } from "../../../src/mirror/file/connection.ts";

/** Stores all bodies as they came. @param from where they are read from: the same mirror, unless told */
export function storeAsTheyCame(db: Connection, from: Connection = db): void {
  const readBody = prepareReadBody(from);
  const stored = from
    .prepare<[], Parameters<typeof readBody>[0] & { id: number }>(
      `select c.id, c.codec, c.size, c.body, c.dictionary_id as dictionaryId from _content c where c.codec <> 'identity'`,
    )
    .all();
  const update = db.prepare("update main._content set codec = 'identity', body = ? where id = ?");
  for (const { id, ...body } of stored) update.run(readBody(body), id);
}

/** As if nothing had ever compressed anything in this mirror; who has it open remembers dictionaries, and is to open it again. */
export function forgetCompression(db: Connection): void {
  storeAsTheyCame(db);
  db.exec("update _content set dictionary_id = null");
  db.exec("delete from _dictionary; delete from _meta where key = 'compressed_content'");
}
