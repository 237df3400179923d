/**
 * What erasing an account leaves: the brands, models and sizes that were fetched for her are in the mirror of the service's
 * catalogue, which is not hers alone, and tell which bras she has. In: her mirror, before it goes.
 */
import { existsSync } from "node:fs";
import { findLinkedEntities } from "../mirror/linked-entities.ts";
import { isLinkedWanted } from "../mirror/linked-wanted.ts";
import { catalogueMirrorFile } from "../mirror/location.ts";
import { readMirror } from "../mirror/mirror-reader.ts";

export interface LeftInCatalogue {
  /** The catalogue's mirror. */
  readonly file: string;
  /** How many of those that her bras link to are in it; null where one of the two mirrors cannot be read. */
  readonly entities: number | null;
}

/**
 * What cannot be read keeps nobody from erasing it.
 * @param baseUrl the account's; null where its file cannot be read
 * @returns null where nothing was asked for on her account, or nothing of it is held
 */
export function findLeftInCatalogue(
  dataDir: string,
  mirrorFile: string,
  baseUrl: string | null,
): LeftInCatalogue | null {
  if (!existsSync(mirrorFile)) return null;
  const wish = readOrNull(() => readWish(mirrorFile));
  const of = wish?.baseUrl ?? baseUrl;
  if (wish?.isWanted === false || of === null) return null;
  const file = catalogueMirrorFile(dataDir, of);
  if (!existsSync(file)) return null;
  const entities = wish && readOrNull(() => countHeld(mirrorFile, file));
  return entities === 0 ? null : { file, entities };
}

const readWish = (mirrorFile: string) =>
  readMirror(mirrorFile, ({ db, identity }) => ({ baseUrl: identity.baseUrl, isWanted: isLinkedWanted(db) }));

const countHeld = (mirrorFile: string, catalogueFile: string): number =>
  findLinkedEntities(mirrorFile, catalogueFile).filter(({ state }) => state === "held").length;

function readOrNull<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch {
    return null;
  }
}
