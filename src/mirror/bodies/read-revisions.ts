/** Every resource that was ever held, with the bodies that it had: what projections are computed from. */
import type { ResourceState } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import type { StoredBody } from "./compression.ts";
import { prepareReadBody, storedBodyColumns } from "./read-body.ts";

export interface RevisionBody {
  readonly resource: {
    readonly id: number;
    readonly url: string;
    readonly kind: string;
    readonly ownerId: number | null;
    readonly state: ResourceState;
    /** What relative links in the body are relative to. */
    readonly baseUrl: string;
  };
  /** From 1. */
  readonly seq: number;
  readonly fromRun: number;
  /** With which the next revision began; null for the last one. */
  readonly nextRun: number | null;
  /** The body as sent. @throws DamagedBodyError */
  readonly readBody: () => Buffer;
}

type RevisionRow = RevisionBody["resource"] & Omit<RevisionBody, "resource" | "readBody"> & StoredBody;

const select = (bodyColumns: string, condition: string) => `
  select r.id, r.url, r.kind, r.owner_id as ownerId, r.state, coalesce(v.base_url, r.url) as baseUrl,
    v.seq, v.from_run as fromRun,
    (select from_run from _revision n where n.resource_id = v.resource_id and n.seq > v.seq order by n.seq limit 1) as nextRun,
    ${bodyColumns}
  from _revision v join _resource r on r.id = v.resource_id join _content c on c.id = v.content_id
  where (v.resource_id, v.seq) > (?, ?) and ${condition} order by v.resource_id, v.seq limit 500`;

/** In the order of discovery, and each resource's in the order in which they came. */
export function eachRevision(db: Connection): Generator<RevisionBody> {
  return readInPortions(db, "true");
}

/** Those of these resources. @param ids SQL that gives them, and that is run once */
export function* eachRevisionOf(db: Connection, ids: string): Generator<RevisionBody> {
  db.exec("create temp table _asked (id integer primary key)");
  try {
    db.exec(`insert or ignore into temp._asked ${ids}`);
    yield* readInPortions(db, "v.resource_id in (select id from temp._asked)");
  } finally {
    db.exec("drop table temp._asked");
  }
}

/** In the order of discovery. A tombstone keeps its last values, so its last revision counts as well. */
export function eachCurrentRevision(db: Connection): Generator<RevisionBody> {
  return readInPortions(db, "v.seq = (select max(seq) from _revision where resource_id = v.resource_id)");
}

/** A few hundred at a time: other statements may run in between. */
function* readInPortions(db: Connection, condition: string): Generator<RevisionBody> {
  const statement = db.prepare<[id: number, seq: number], RevisionRow>(
    select(storedBodyColumns(db, "c"), condition),
  );
  const readBody = prepareReadBody(db);
  for (let lastId = 0, lastSeq = 0; ; ) {
    const rows = statement.all(lastId, lastSeq);
    for (const { seq, fromRun, nextRun, codec, size, body, dictionaryId, ...resource } of rows)
      yield {
        resource,
        seq,
        fromRun,
        nextRun,
        readBody: () => readBody({ codec, size, body, dictionaryId }),
      };
    const end = rows.at(-1);
    if (end === undefined) return;
    ({ id: lastId, seq: lastSeq } = end);
  }
}
