/** Restores a mirror from the rows and bodies of a backup: under a temporary name, then rebuilt, then renamed. */
import { existsSync, statSync } from "node:fs";
import { NotAnEnvelopeError } from "../../schema/envelope.ts";
import { JsonError } from "../../schema/json.ts";
import type { Kinds } from "../../schema/kind.ts";
import { BookkeepingRowError, type PutBody, type PutRows, restoreBookkeeping } from "./bookkeeping-rows.ts";
import { deriveContextOf } from "./derive/derive.ts";
import { rebuildProjections } from "./derive/rebuild.ts";
import { lockMirror } from "./file/connection.ts";
import { createMirror } from "./file/create-mirror.ts";
import { MirrorError, toMirrorError } from "./file/errors.ts";
import type { MirrorIdentity } from "./file/meta.ts";
import { prepareRestoredPictures, type RestoredPictures } from "./media/media-files.ts";
import { createFolderOf } from "./writer.ts";

export interface RestoreMirrorOptions {
  /** Must not exist. */
  readonly file: string;
  readonly identity: MirrorIdentity;
  readonly kinds: Kinds;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** Whether `fill` stores pictures, which need a folder beside the mirror. */
  readonly hasPictures: boolean;
  readonly fill: (putRows: PutRows, putBody: PutBody, putPicture: RestoredPictures["put"]) => Promise<void>;
}

/**
 * After an error there is neither a mirror nor a picture.
 * @throws MirrorError, such as `exists`; FileError `locked`; BookkeepingRowError; errors of `fill`
 */
export async function restoreMirror(options: RestoreMirrorOptions): Promise<void> {
  const { file, identity, kinds, hasPictures } = options;
  requireNoMirror(file);
  if (hasPictures) prepareRestoredPictures(file);
  createFolderOf(file);
  const lock = lockMirror(file, options.openedAt);
  let pictures: RestoredPictures | null = null;
  try {
    requireNoMirror(file);
    if (hasPictures) pictures = prepareRestoredPictures(file);
    const putPicture: RestoredPictures["put"] = (bytes) => pictures?.put(bytes);
    await createMirror(file, identity, async (db) => {
      await restoreBookkeeping(db, (putRows, putBody) => options.fill(putRows, putBody, putPicture));
      try {
        rebuildProjections(db, identity.area, deriveContextOf(identity, kinds));
      } catch (error) {
        if (!(error instanceof NotAnEnvelopeError || error instanceof JsonError)) throw error;
        throw new BookkeepingRowError(`a body is no envelope: ${error.message}`, { cause: error });
      }
    });
  } catch (error) {
    pictures?.undo();
    throw toMirrorError(error, file);
  } finally {
    lock.release();
  }
}

/** A log without its main file may hold data, unless it is empty. */
function requireNoMirror(file: string): void {
  const log = `${file}-wal`;
  const logBytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (!existsSync(file) && logBytes === 0) return;
  throw new MirrorError(
    "exists",
    existsSync(file) ? file : log,
    "A mirror exists, and restoring never overwrites one",
    "Restore to another file with --mirror FILE, or move this one away with its -wal and -shm.",
  );
}
