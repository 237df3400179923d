/** The bodies that a mirror holds as current, as they were sent: URL to text. */
import type { StoredBody } from "../../src/mirror/bodies/compression.ts";
import { prepareReadBody } from "../../src/mirror/bodies/read-body.ts";
import type { MirrorReader } from "../../src/mirror/reader.ts";

export function currentBodies({ db }: Pick<MirrorReader, "db">): Map<string, string> {
  const readBody = prepareReadBody(db);
  const select = db.prepare<[], StoredBody & { url: string }>(
    `select r.url, c.codec, c.size, c.body, c.dictionary_id as dictionaryId from _resource r
     join _revision v on v.resource_id = r.id and v.to_run is null join _content c on c.id = v.content_id`,
  );
  return new Map(select.all().map((stored) => [stored.url, readBody(stored).toString()]));
}
