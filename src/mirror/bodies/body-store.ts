/**
 * Bodies as they come in: each is stored once, compressed at once where its kind has a dictionary. In: a body and what it is
 * of. Out: the id of its content.
 */
import type { Connection } from "../file/connection.ts";
import { asItCame, type PackedBody, packBody } from "./compression.ts";
import type { Dictionaries } from "./dictionaries.ts";

export interface BodyStore {
  /**
   * What a resource changes back to is kept once. Called inside a transaction.
   * @param isFirst whether nothing was ever stored of it
   */
  store(resource: BodyOwner, isFirst: boolean, sha256: Uint8Array, body: Uint8Array): number;
  /** Before a transaction: makes dictionaries for the bodies to come, of kinds of which enough have come by now. */
  makeDictionaries(): void;
}

export interface BodyOwner {
  readonly id: number;
  readonly kind: string;
}

export function prepareBodyStore(db: Connection, dictionaries: Dictionaries): BodyStore {
  const insert = db.prepare(
    "insert into _content (sha256, codec, size, body, dictionary_id) values (?, ?, ?, ?, ?)",
  );
  // Different resources have different bodies (each names itself), and an index over all hashes would be the most expensive
  // thing in the file: its every page is written with every batch.
  const selectEarlier = db
    .prepare<[number, Uint8Array], number>(
      `select v.content_id from _revision v join _content c on c.id = v.content_id
       where v.resource_id = ? and c.sha256 = ? limit 1`,
    )
    .pluck();
  const kindsWithout = new Set<string>();

  /** Not where its kind has no dictionary yet: such a body is looked at again when the run has closed. */
  const pack = (kind: string, body: Uint8Array): PackedBody => {
    const dictionary = dictionaries.of(kind);
    if (dictionary !== null) return packBody(body, dictionary);
    kindsWithout.add(kind);
    return asItCame(body);
  };

  return {
    store({ id, kind }, isFirst, sha256, body) {
      const earlier = isFirst ? undefined : selectEarlier.get(id, sha256);
      if (earlier !== undefined) return earlier;
      const packed = pack(kind, body);
      const { lastInsertRowid } = insert.run(
        sha256,
        packed.codec,
        body.byteLength,
        packed.body,
        packed.dictionaryId,
      );
      return Number(lastInsertRowid);
    },
    makeDictionaries() {
      dictionaries.makeFor(kindsWithout);
      kindsWithout.clear();
    },
  };
}
