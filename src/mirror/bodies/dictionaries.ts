/**
 * Compression dictionaries: one for each kind with enough bodies, made of some of these bodies. What all bodies of a kind
 * have in common, which is most of an envelope, then takes almost no space in each of them.
 */
import { hash } from "node:crypto";
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError } from "../file/errors.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { type Dictionary, deflateBody } from "./compression.ts";
import { prepareReadBody, storedBodyColumns } from "./read-body.ts";

export interface Dictionaries {
  /** The newest dictionary of a kind, or null. */
  of(kind: string): Dictionary | null;
  /**
   * Creates a dictionary for each of these kinds that has none, if there are enough bodies. Do not call it in a transaction:
   * a rollback would remove a dictionary that is still in the cache.
   */
  makeFor(kinds: Iterable<string>): void;
  /** Replaces dictionaries that are stale, and those for which a clearly better one is found. */
  renew(): void;
  removeUnused(): void;
}

/**
 * Every body is deflated with the whole dictionary, so its size decides the speed. While bodies arrive, a small one is used.
 * When a mirror is compacted, larger ones save another fifth, in two to three times as long. A match in deflate reaches
 * back 32 KiB at most.
 */
const quickBytes = 4096;
const compactingBytes = [quickBytes, 8192, 30_000];
/** With fewer bodies, a dictionary takes more space than it saves. */
const minBodies = 32;
const maxSamples = 64;
const maxComparedBodies = 64;
/** A new dictionary means that all bodies of the kind are rewritten: it must save at least a twentieth. */
const worthwhileRatio = 0.95;

/** Key in `_meta`: dictionaries up to this id may contain data of pruned runs. */
const staleKey = "stale_dictionary";

/** Marks the present dictionaries as stale: they may contain bodies that were pruned. The next `renew` replaces them. */
export function markDictionariesStale(db: Connection): void {
  const newest = prepareColumn(db, () =>
    q.selectFrom("_dictionary").select(({ fn }) => fn.max("id").as("id")),
  ).get();
  if (newest) writeMeta(db, staleKey, String(newest));
}

export function prepareDictionaries(db: Connection): Dictionaries {
  const statements = prepareStatements(db);
  const readBody = prepareReadBody(db);
  const cache = new Map<string, Dictionary>();

  const readBodies = (contentIds: readonly number[]): Buffer[] =>
    contentIds.flatMap((id) => {
      const stored = statements.selectBody.get({ id });
      try {
        return stored === undefined ? [] : [readBody(stored)];
      } catch (error) {
        if (!(error instanceof DamagedBodyError)) throw error;
        return [];
      }
    });

  const make = (contentIds: readonly number[], maxBytes: number): Buffer | null => {
    if (contentIds.length < minBodies) return null;
    const samples = readBodies(pickEvenly(contentIds, maxSamples));
    return samples.length === 0 ? null : joinSamples(samples, maxBytes);
  };

  const store = (kind: string, body: Buffer): void => {
    const inserted = statements.insert.run({ kind, sha256: hash("sha256", body, "buffer"), body });
    cache.set(kind, { id: Number(inserted.lastInsertRowid), body });
  };

  const of = (kind: string): Dictionary | null => {
    const dictionary = cache.get(kind) ?? statements.selectNewest.get({ kind });
    if (dictionary !== undefined) cache.set(kind, dictionary);
    return dictionary ?? null;
  };

  const renewKind = (kind: string, newestStaleId: number): void => {
    const contentIds = statements.selectContentIds.all({ kind });
    const current = of(kind);
    const isStale = current !== null && current.id <= newestStaleId;
    const compared = readBodies(pickEvenly(contentIds, maxComparedBodies));
    /** An estimate for all bodies of the kind and the dictionary itself, from the compared bodies. */
    const estimateBytes = (dictionary: Buffer) => {
      const bytes = compared.reduce((sum, body) => sum + deflateBody(body, dictionary).byteLength, 0);
      return dictionary.byteLength + (bytes * contentIds.length) / Math.max(1, compared.length);
    };
    const candidates = compactingBytes
      .flatMap((maxBytes) => make(contentIds, maxBytes) ?? [])
      .map((body) => ({ body, bytes: estimateBytes(body) }));
    const [best] = candidates.sort((a, b) => a.bytes - b.bytes);
    const maxBytes = current === null || isStale ? Infinity : estimateBytes(current.body) * worthwhileRatio;
    if (best && best.bytes < maxBytes) store(kind, best.body);
  };

  return {
    of,
    makeFor(kinds) {
      for (const kind of kinds) {
        const dictionary =
          of(kind) === null ? make(statements.selectContentIds.all({ kind }), quickBytes) : null;
        if (dictionary !== null) store(kind, dictionary);
      }
    },
    renew() {
      const newestStaleId = Number(readMeta(db, staleKey) ?? 0);
      for (const kind of statements.selectKinds.all()) renewKind(kind, newestStaleId);
    },
    removeUnused() {
      statements.removeUnused.run();
      cache.clear();
    },
  };
}

function prepareStatements(db: Connection) {
  return {
    selectNewest: prepare(db, (p: { kind: string }) =>
      q
        .selectFrom("_dictionary")
        .select(["id", "body"])
        .where("kind", "=", p.kind)
        .orderBy("id", "desc")
        .limit(1),
    ),
    insert: prepare(db, (p: { kind: string; sha256: Buffer; body: Buffer }) =>
      q.insertInto("_dictionary").values({ kind: p.kind, sha256: p.sha256, body: p.body }),
    ),
    selectContentIds: prepareColumn(db, (p: { kind: string }) =>
      q
        .selectFrom("_resource as r")
        .innerJoin("_revision as v", "v.resource_id", "r.id")
        .select("v.content_id")
        .distinct()
        .where("r.kind", "=", p.kind)
        .orderBy("v.content_id"),
    ),
    selectBody: prepare(db, (p: { id: number }) =>
      q.selectFrom("_content as c").select(storedBodyColumns).where("c.id", "=", p.id),
    ),
    selectKinds: prepareColumn(db, () => q.selectFrom("_resource").select("kind").distinct()),
    // The newest one stays in any case, so that no id is used twice.
    removeUnused: prepare(db, () =>
      q
        .deleteFrom("_dictionary")
        .where("id", "<>", (eb) =>
          eb.selectFrom("_dictionary").select(({ fn }) => fn.max<number>("id").as("id")),
        )
        .where("id", "not in", (eb) =>
          eb
            .selectFrom("_content")
            .select("dictionary_id")
            .where("dictionary_id", "is not", null)
            .$narrowType<{ dictionary_id: number }>(),
        ),
    ),
  };
}

function joinSamples(bodies: readonly Buffer[], maxBytes: number): Buffer {
  const meanBytes = bodies.reduce((sum, body) => sum + body.byteLength, 0) / bodies.length;
  const count = Math.max(1, Math.floor(maxBytes / meanBytes));
  return Buffer.concat(pickEvenly(bodies, count)).subarray(0, maxBytes);
}

/** At most `count` of the items, at equal distances. */
function pickEvenly<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  const step = items.length / count;
  return Array.from({ length: count }, (_, n) => Math.floor((n + 0.5) * step)).flatMap((index) =>
    items.slice(index, index + 1),
  );
}
