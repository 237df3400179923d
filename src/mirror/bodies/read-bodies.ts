import type { Connection } from "../file/connection.ts";
import type { StoredBody } from "./codec.ts";
import { prepareReadBody, storedBodyColumns } from "./read-body.ts";

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
