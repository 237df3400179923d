/**
 * Whether what her bras are was ever asked for on her account: a mark in her own mirror, since what the catalogue's mirror
 * holds may be there on another's. It is restored with everything else.
 */
import type { Kinds } from "../../../schema/kind.ts";
import type { Connection } from "../file/connection.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { readMirror } from "../reader.ts";
import { openMirrorWriter } from "../writer.ts";

const key = "linked_wanted";

export const isCatalogueLinked = (db: Connection): boolean => readMeta(db, key) !== null;

export const markCatalogueLinked = (db: Connection): void => writeMeta(db, key, "true");

export interface LinkCatalogueOptions {
  /** The account's mirror. */
  readonly file: string;
  readonly kinds: Kinds;
  /** ISO 8601; told to whoever finds the mirror locked. */
  readonly openedAt: string;
}

/** For good; where it is marked already, nothing is written. @throws MirrorError, also `locked` */
export async function linkCatalogue(options: LinkCatalogueOptions): Promise<void> {
  const held = readMirror(options.file, ({ db, identity }) => ({
    identity,
    isWanted: isCatalogueLinked(db),
  }));
  if (held.isWanted) return;
  const mirror = await openMirrorWriter({ ...options, identity: held.identity });
  try {
    markCatalogueLinked(mirror.db);
  } finally {
    mirror.close();
  }
}
