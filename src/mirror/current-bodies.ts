/** Every resource that is held, with the body that is current: what projections are computed from. */
import type { ResourceState } from "../../schema/tables.ts";
import type { StoredBody } from "./bodies/codec.ts";
import { prepareReadBody, storedBodyColumns } from "./bodies/read-body.ts";
import type { Connection } from "./connection.ts";

export interface CurrentBody {
  readonly resource: {
    readonly id: number;
    readonly url: string;
    readonly kind: string;
    readonly ownerId: number | null;
    readonly state: ResourceState;
    /** What relative links in the body are relative to. */
    readonly baseUrl: string;
  };
  /** The body as sent. @throws DamagedBodyError */
  readonly readBody: () => Buffer;
}

/** A tombstone keeps its last values, so its last revision counts as well. */
const select = (bodyColumns: string) => `
  select r.id, r.url, r.kind, r.owner_id as ownerId, r.state,
    coalesce(v.base_url, r.url) as baseUrl, ${bodyColumns}
  from _resource r
  join _revision v on v.resource_id = r.id and v.seq = (select max(seq) from _revision where resource_id = r.id)
  join _content c on c.id = v.content_id
  where r.id > ? order by r.id limit 500`;

/** In the order of discovery, a few hundred at a time: other statements may run in between. */
export function* eachCurrentBody(db: Connection): Generator<CurrentBody> {
  const statement = db.prepare<[number], CurrentBody["resource"] & StoredBody>(
    select(storedBodyColumns(db, "c")),
  );
  const readBody = prepareReadBody(db);
  for (let last = 0; ; ) {
    const rows = statement.all(last);
    for (const { codec, size, body, dictionaryId, ...resource } of rows)
      yield { resource, readBody: () => readBody({ codec, size, body, dictionaryId }) };
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.id;
  }
}
