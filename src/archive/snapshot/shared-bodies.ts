/**
 * Reads the resources in the temporary table that `shared-resources.ts` fills: their bodies, and what the index says of each.
 * SQLite writes the lines of the index and joins bodies: a hundred thousand rows take half as long as one by one.
 */
import { isoTimeOf } from "../../../schema/tables.ts";
import { prepareReadProvenBody } from "../../mirror/bodies/read-body.ts";
import type { BookkeepingRow } from "../../mirror/bookkeeping/rows.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import type { SeenBy } from "../../mirror/snapshots/snapshot-resource.ts";
import type { NewBody } from "../container/body-blocks.ts";
import { identityOf } from "./resource-lines.ts";

/** Of a line of the index, in their order. */
const cells = [
  ...["url", "kind", "base_url", "status", "etag", "modified_at", "content_type", "link"],
  ...["fetched_on", "gone_on"],
];

const dayMillis = 86_400_000;

/** A `Last-Modified` of the day of the request may be the time of the request. An ETag without quotes stands for one. */
const resources = (condition = "true") => `
  select n, url, kind, base_url, status, iif(is_ours and (etag like '%"' or modified_at is not null), etag, null) as etag,
    modified_at, content_type, link, fetched_on, gone_on, sha256, codec, size, body, dictionary_id
  from (
    select s.n, r.url, r.kind, v.base_url, v.status, coalesce(v.etag, r.etag) as etag, h.content_type, h.link,
      s.fetched_on, s.gone_on, s.gone_on is null and json_extract(w.scope_json, '$.credential') is :seenBy as is_ours,
      iif(v.modified_at / ${dayMillis} < v.fetched_at / ${dayMillis}, ${isoTimeOf("v.modified_at")}, null) as modified_at,
      lower(hex(c.sha256)) as sha256, c.codec, c.size, c.body, c.dictionary_id
    from temp._shared s cross join main._resource r on r.id = s.id
      join main._revision v on v.resource_id = s.id and v.seq = s.seq
      join main._content c on c.id = v.content_id
      left join main._headers h on h.id = v.headers_id
      left join main._run w on w.id = s.checked_run
    where ${condition})
  order by n`;

/** @returns the numbers of resources of which something else is known than was */
export function findChanged(db: Connection, seenBy: SeenBy, known: ReadonlyMap<string, string>): number[] {
  if (known.size === 0) return db.prepare<[], number>("select n from temp._shared").pluck().all();
  const changed: number[] = [];
  const select = db.prepare<{ seenBy: SeenBy }, BookkeepingRow & { n: number; url: string }>(
    `select n, ${cells.join(", ")}, sha256 from (${resources()})`,
  );
  for (const { n, ...line } of select.iterate({ seenBy }))
    if (known.get(line.url) !== identityOf(line)) changed.push(n);
  return changed;
}

/** In one statement. */
const rowsTogether = 256;
/** Larger bodies are read one by one: together they might take much memory. */
const maxJoinedBytes = 2 ** 14;

/** Without cells that have no value. */
const line = cells
  .map((cell) => `iif(${cell} is null, '', '"${cell}":' || json_quote(${cell}) || ',')`)
  .join(" || ");

/** Several resources in the order of their numbers. */
interface Together {
  /** One line each; line feeds within are escaped. */
  readonly lines: string;
  /** JSON of `StoredRow[]`. */
  readonly stored: string;
  /** Of those that are not large, one after the other. */
  readonly bodies: Buffer;
}

type StoredRow = [
  n: number,
  sha256: string,
  codec: string,
  size: number,
  storedBytes: number,
  dictionaryId: number | null,
];

/** A body is valid until the next one is read. @throws DamagedBodyError */
export function* readSharedBodies(db: Connection, seenBy: SeenBy): Generator<NewBody> {
  const readBody = prepareReadProvenBody(db);
  const last = db.prepare<[], number | null>("select max(n) from temp._shared").pluck().get() ?? 0;
  // `group_concat` keeps the bytes of blobs. A changed byte would be found by its SHA-256.
  const select = db.prepare<{ seenBy: SeenBy; first: number; last: number }, Together>(
    `select coalesce(group_concat(${line}, char(10)), '') as lines,
       json_group_array(json_array(n, sha256, codec, size, length(body), dictionary_id)) as stored,
       cast(coalesce(group_concat(iif(length(body) > ${maxJoinedBytes}, '', body), ''), '') as blob) as bodies
     from (${resources("s.n between :first and :last")})`,
  );
  const selectLarge = db
    .prepare<{ seenBy: SeenBy; n: number }, Buffer>(`select body from (${resources("s.n = :n")})`)
    .pluck();
  for (let first = 1; first <= last; first += rowsTogether) {
    const together = select.get({ seenBy, first, last: first + rowsTogether - 1 });
    if (together === undefined) return;
    const lines = together.lines.split("\n");
    const rows: StoredRow[] = JSON.parse(together.stored);
    let at = 0;
    for (const [index, [n, sha256, codec, size, bytes, dictionaryId]] of rows.entries()) {
      const isLarge = bytes > maxJoinedBytes;
      const joined = together.bodies.subarray(at, isLarge ? at : at + bytes);
      at += joined.length;
      const body = isLarge ? (selectLarge.get({ seenBy, n }) ?? joined) : joined;
      yield {
        sha256,
        body: readBody({ codec, size, body, dictionaryId }, sha256),
        about: lines[index] ?? "",
      };
    }
  }
}
