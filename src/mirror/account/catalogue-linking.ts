/**
 * Whether the catalogue resources of an account's bras were ever requested: a mark in the account's own mirror, which
 * backups contain. The catalogue mirror cannot show it, since another account may have needed the same resources.
 */
import type { Kinds } from "../../../schema/kind.ts";
import type { Connection } from "../file/connection.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { readMirror } from "../reader.ts";
import { openMirrorWriter } from "../writer.ts";

const key = "with_catalogue";

export const isCatalogueLinked = (db: Connection): boolean => readMeta(db, key) !== null;

export const markCatalogueLinked = (db: Connection): void => writeMeta(db, key, "true");

export interface LinkCatalogueOptions {
  /** The account's mirror. */
  readonly file: string;
  readonly kinds: Kinds;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
}

/** Sets the mark unless it is set. @throws MirrorError; FileError `locked` */
export async function linkCatalogue(options: LinkCatalogueOptions): Promise<void> {
  const { identity, isLinked } = readMirror(options.file, (mirror) => ({
    identity: mirror.identity,
    isLinked: isCatalogueLinked(mirror.db),
  }));
  if (isLinked) return;
  const mirror = await openMirrorWriter({ ...options, identity, mustExist: true });
  try {
    markCatalogueLinked(mirror.db);
  } finally {
    mirror.close();
  }
}
