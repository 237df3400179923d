/** Stores the bodies of new revisions. A body is compressed when it arrives, if its kind has a dictionary. */
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn, type Statement } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { type EncodedBody, encodeBody, uncompressed } from "./compression.ts";
import type { Dictionaries } from "./dictionaries.ts";

export interface BodyStore {
  /**
   * Stores a body and returns its content id. A resource that returns to an earlier body shares the content of that one.
   * Call it inside a transaction.
   * @param isFirst whether the resource has no revision yet
   */
  store(resource: BodyOwner, isFirst: boolean, sha256: Buffer, body: Uint8Array): number;
  /** Creates the dictionaries that are missing, for kinds with enough bodies. Call it before a transaction. */
  makeDictionaries(): void;
}

export interface BodyOwner {
  readonly id: number;
  readonly kind: string;
}

export function prepareBodyStore(db: Connection, dictionaries: Dictionaries): BodyStore {
  const insert = prepareInsertContent(db);
  // Different resources have different bodies, since each body contains its own URL. So there is no index over all hashes:
  // it would cost more than anything else in the file, because every batch would write to all of its pages.
  const selectEarlier = prepareColumn(db, (p: { resourceId: number; sha256: Buffer }) =>
    q
      .selectFrom("_revision as v")
      .innerJoin("_content as c", "c.id", "v.content_id")
      .select("v.content_id")
      .where("v.resource_id", "=", p.resourceId)
      .where("c.sha256", "=", p.sha256)
      .limit(1),
  );
  const kindsWithoutDictionary = new Set<string>();

  /** Without a dictionary the body stays as it is: background compression follows when the run has closed. */
  const encode = (kind: string, body: Uint8Array): EncodedBody => {
    const dictionary = dictionaries.of(kind);
    if (dictionary !== null) return encodeBody(body, dictionary);
    kindsWithoutDictionary.add(kind);
    return uncompressed(body);
  };

  return {
    store({ id: resourceId, kind }, isFirst, sha256, body) {
      const earlier = isFirst ? undefined : selectEarlier.get({ resourceId, sha256 });
      if (earlier !== undefined) return earlier;
      const inserted = insert.run({ id: null, sha256, size: body.byteLength, ...encode(kind, body) });
      return Number(inserted.lastInsertRowid);
    },
    makeDictionaries() {
      dictionaries.makeFor(kindsWithoutDictionary);
      kindsWithoutDictionary.clear();
    },
  };
}

interface NewContent extends EncodedBody {
  /** Null for the next free id. */
  readonly id: number | null;
  /** Of the body as sent. */
  readonly sha256: Buffer;
  /** Bytes as sent. */
  readonly size: number;
}

export function prepareInsertContent(db: Connection): Statement<NewContent, unknown> {
  return prepare(db, (p: NewContent) =>
    q.insertInto("_content").values({
      id: p.id as number,
      sha256: p.sha256,
      codec: p.codec,
      size: p.size,
      body: p.body,
      dictionary_id: p.dictionaryId,
    }),
  );
}
