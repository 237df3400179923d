/**
 * A dictionary for each kind of which there are enough bodies: some of these bodies, one after the other. What they have in
 * common (most of an envelope) takes next to nothing in all others.
 */
import { hash } from "node:crypto";
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError } from "../file/errors.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { type Dictionary, deflateBody, type StoredBody } from "./compression.ts";
import { prepareReadBody, storedBodyColumns } from "./read-body.ts";

export interface Dictionaries {
  /** The dictionary for bodies of this kind; null as long as there is none. */
  of(kind: string): Dictionary | null;
  /**
   * Makes one for each of these kinds that has none, if there are enough bodies. Not to be called in a transaction, with which
   * it could be undone: what is remembered of a dictionary is in the mirror.
   */
  makeFor(kinds: Iterable<string>): void;
  /**
   * Makes the best one for each kind, where that makes its bodies smaller than what there is, and in any case where what there
   * is may have in it what was forgotten since.
   */
  renew(): void;
  removeUnused(): void;
}

/**
 * Each body is deflated with all of its dictionary anew. While bodies come in, that is to be quick; when a mirror is compacted,
 * they take a fifth less in two to three times as long. A match reaches back 32 KiB at most.
 */
const quickBytes = 4096;
const compactingBytes = [quickBytes, 8192, 30_000];
/** With fewer bodies it takes more room than it saves. */
const leastBodies = 32;
const sampledBodies = 64;
const comparedBodies = 64;
/** All bodies of the kind are written anew, which is not done for a few bytes. */
const worthwhileRatio = 0.95;

/** In `_meta`: up to which id dictionaries may have in them what was forgotten. */
const staleKey = "stale_dictionary";

/** What there is of dictionaries is to be replaced when they are made anew: bodies that they were made of are forgotten. */
export function replaceDictionaries(db: Connection): void {
  const newest = db.prepare<[], number | null>("select max(id) from _dictionary").pluck().get();
  if (newest) writeMeta(db, staleKey, String(newest));
}

export function prepareDictionaries(db: Connection): Dictionaries {
  const selectCurrent = db.prepare<[string], Dictionary>(
    "select id, body from _dictionary where kind = ? order by id desc limit 1",
  );
  const insert = db.prepare("insert into _dictionary (kind, sha256, body) values (?, ?, ?)");
  const selectContentIds = db
    .prepare<[string], number>(
      `select distinct v.content_id from _resource r join _revision v on v.resource_id = r.id
       where r.kind = ? order by v.content_id`,
    )
    .pluck();
  const selectStored = db.prepare<[number], StoredBody>(
    `select ${storedBodyColumns(db, "c")} from _content c where c.id = ?`,
  );
  const selectKinds = db.prepare<[], string>("select distinct kind from _resource").pluck();
  const readBody = prepareReadBody(db);
  const known = new Map<string, Dictionary>();

  const readBodies = (ids: readonly number[]): Buffer[] =>
    ids.flatMap((id) => {
      const stored = selectStored.get(id);
      try {
        return stored === undefined ? [] : [readBody(stored)];
      } catch (error) {
        if (!(error instanceof DamagedBodyError)) throw error;
        return [];
      }
    });

  const make = (contentIds: readonly number[], mostBytes: number): Buffer | null => {
    if (contentIds.length < leastBodies) return null;
    const samples = readBodies(spaced(contentIds, sampledBodies));
    return samples.length === 0 ? null : joinSamples(samples, mostBytes);
  };

  const keep = (kind: string, body: Buffer): void => {
    const id = Number(insert.run(kind, hash("sha256", body, "buffer"), body).lastInsertRowid);
    known.set(kind, { id, body });
  };

  const of = (kind: string): Dictionary | null => {
    const dictionary = known.get(kind) ?? selectCurrent.get(kind);
    if (dictionary !== undefined) known.set(kind, dictionary);
    return dictionary ?? null;
  };

  return {
    of,
    makeFor(kinds) {
      for (const kind of kinds) {
        const made = of(kind) === null ? make(selectContentIds.all(kind), quickBytes) : null;
        if (made !== null) keep(kind, made);
      }
    },
    renew() {
      const stale = Number(readMeta(db, staleKey) ?? 0);
      for (const kind of selectKinds.all()) {
        const contentIds = selectContentIds.all(kind);
        const held = of(kind);
        const isStale = held !== null && held.id <= stale;
        const compared = readBodies(spaced(contentIds, comparedBodies));
        /** Of all bodies of the kind and the dictionary itself, by what those that are compared take. */
        const bytesWith = (dictionary: Buffer) => {
          const bytes = compared.reduce((sum, body) => sum + deflateBody(body, dictionary).byteLength, 0);
          return dictionary.byteLength + (bytes * contentIds.length) / Math.max(1, compared.length);
        };
        const candidates = compactingBytes
          .flatMap((mostBytes) => make(contentIds, mostBytes) ?? [])
          .map((body) => ({ body, bytes: bytesWith(body) }));
        const [best] = candidates.sort((one, other) => one.bytes - other.bytes);
        const worthwhile = held === null || isStale ? Infinity : bytesWith(held.body) * worthwhileRatio;
        if (best && best.bytes < worthwhile) keep(kind, best.body);
      }
    },
    removeUnused() {
      // The newest one stays in any case, so that no id is given twice.
      db.exec(
        `delete from _dictionary where id <> (select max(id) from _dictionary)
           and id not in (select dictionary_id from _content where dictionary_id is not null)`,
      );
      known.clear();
    },
  };
}

function joinSamples(bodies: readonly Buffer[], mostBytes: number): Buffer {
  const meanBytes = bodies.reduce((sum, body) => sum + body.byteLength, 0) / bodies.length;
  const fitting = Math.max(1, Math.floor(mostBytes / meanBytes));
  return Buffer.concat(spaced(bodies, fitting)).subarray(0, mostBytes);
}

/** So many of them at most, at equal distances. */
function spaced<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  const step = items.length / count;
  return Array.from({ length: count }, (_, n) => Math.floor((n + 0.5) * step)).flatMap((index) =>
    items.slice(index, index + 1),
  );
}
