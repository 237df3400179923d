/**
 * Reads the resources in the temporary table that `shared-resources.ts` fills: what the index says of each, and blocks of their
 * bodies.
 */
import { isoTimeOf } from "../../../schema/tables.ts";
import type { BookkeepingRow } from "../../mirror/bookkeeping/rows.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import type { SeenBy } from "../../mirror/snapshots/snapshot-resource.ts";
import type { Block } from "../container/collect-blocks.ts";
import { makeBlocksHere, startBlockThread } from "./blocks/blocks-client.ts";
import { type BodyRecords, recordSql } from "./blocks/body-records.ts";
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

/** Its line of the index, without cells that have no value and without those of its body. */
const about = cells
  .map((cell) => `iif(${cell} is null, '', '"${cell}":' || json_quote(${cell}) || ',')`)
  .join(" || ");
const record = recordSql({
  ...{ number: "n", codec: "codec", size: "size", dictionaryId: "dictionary_id", sha256: "sha256", about },
  stored: "iif(length(body) > :maxBytes, '', body)",
});

/** In one statement. */
const rowsTogether = 256;
/** Larger bodies are read one by one: together they might take much memory. */
const maxBytesTogether = 2 ** 13;
/** Statements whose bodies are in memory. */
const statementsAhead = 4;
/** With fewer bodies, a thread would take longer to start than it saves. */
const minOfThread = 8192;

/** Blocks in the order of their bodies' numbers. @throws DamagedBodyError */
export async function* readSharedBlocks(db: Connection, seenBy: SeenBy): AsyncGenerator<Block> {
  const [count, last] = db
    .prepare<[], [number, number]>("select count(*), coalesce(max(n), 0) from temp._shared")
    .raw()
    .get() ?? [0, 0];
  const dictionaries = db.prepare<[], [number, Buffer]>("select id, body from _dictionary").raw().all();
  const start = count < minOfThread ? makeBlocksHere : startBlockThread;
  const thread = start(new Map(dictionaries));
  const started: Promise<Block[]>[] = [];
  const add = (records: BodyRecords | null) => {
    const made = thread.add(records);
    // An error is thrown where it is awaited.
    made.catch(() => {});
    started.push(made);
  };
  try {
    for (const records of readRecords(db, seenBy, last)) {
      add(records);
      const first = started.length > statementsAhead ? started.shift() : undefined;
      if (first !== undefined) yield* await first;
    }
    add(null);
    for (const made of started) yield* await made;
  } finally {
    await thread.close();
  }
}

/** SQLite makes the texts: a hundred thousand rows take half as long as one by one. */
function* readRecords(db: Connection, seenBy: SeenBy, last: number): Generator<BodyRecords> {
  interface Range {
    readonly seenBy: SeenBy;
    readonly first: number;
    readonly last: number;
    readonly maxBytes: number;
  }
  const select = db.prepare<Range, BodyRecords & { readonly large: number }>(
    `select count(*) as count, cast(group_concat(${record}, char(10)) as blob) as lines,
       count(*) filter (where length(body) > :maxBytes) as large
     from (${resources("s.n between :first and :last")})`,
  );
  for (let first = 1; first <= last; first += rowsTogether) {
    const range = { seenBy, first, last: first + rowsTogether - 1, maxBytes: maxBytesTogether };
    const together = select.get(range);
    if (together === undefined || together.count === 0) continue;
    if (together.large === 0) yield together;
    else
      for (let n = first; n <= range.last; n++) {
        const one = select.get({ seenBy, first: n, last: n, maxBytes: Number.MAX_SAFE_INTEGER });
        if (one !== undefined && one.count > 0) yield one;
      }
  }
}
