/** A mirror from what was kept of another one: made beside its place, computed anew, and put there when it is whole. */
import { existsSync, rmSync, statSync } from "node:fs";
import { NotAnEnvelopeError } from "../../schema/envelope.ts";
import { JsonError } from "../../schema/json.ts";
import type { Kinds } from "../../schema/kind.ts";
import { createMirror } from "./create-mirror.ts";
import { MirrorError, toMirrorError } from "./errors.ts";
import { EssentialRowError, type PutBody, type PutEssentialRows, putEssentials } from "./essential-rows.ts";
import { takeLock } from "./lock.ts";
import { mediaFolder, storePicture } from "./media/media-files.ts";
import type { MirrorIdentity } from "./meta.ts";
import { mkdirFor } from "./mirror.ts";
import { rebuildProjections } from "./rebuild.ts";

/** Keeps a picture in the folder beside the mirror. */
export type PutPicture = (bytes: Uint8Array) => void;

export interface RestoreMirrorOptions {
  /** Where nothing is yet. */
  readonly file: string;
  readonly identity: MirrorIdentity;
  readonly kinds: Kinds;
  /** ISO 8601; told to whoever finds the mirror locked. */
  readonly openedAt: string;
  readonly fill: (putRows: PutEssentialRows, putBody: PutBody, putPicture: PutPicture) => Promise<void>;
}

/**
 * Whatever goes wrong, there is no mirror afterwards where there was none before.
 * @throws MirrorError, also `exists` and `locked`; EssentialRowError; what `fill` throws
 */
export async function restoreMirror(options: RestoreMirrorOptions): Promise<void> {
  const { file, identity, kinds } = options;
  requireNothingAt(file);
  mkdirFor(file);
  const lock = takeLock(file, options.openedAt);
  const folder = mediaFolder(file);
  const hadPictures = existsSync(folder);
  try {
    requireNothingAt(file);
    await createMirror(file, identity, async (db) => {
      await putEssentials(db, (putRows, putBody) =>
        options.fill(putRows, putBody, (bytes) => void storePicture(file, bytes)),
      );
      const { baseUrl, area, serviceName } = identity;
      try {
        rebuildProjections(db, area, { kinds, origin: new URL(baseUrl).origin, serviceName });
      } catch (error) {
        if (!(error instanceof NotAnEnvelopeError || error instanceof JsonError)) throw error;
        throw new EssentialRowError(`a body is no envelope: ${error.message}`, { cause: error });
      }
    });
  } catch (error) {
    if (!hadPictures) rmSync(folder, { recursive: true, force: true });
    throw toMirrorError(error, file);
  } finally {
    lock.release();
  }
}

/** A log holds what its mirror's file does not, so a log without that is not nothing, unless it is empty. */
function requireNothingAt(file: string): void {
  const log = `${file}-wal`;
  const logBytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (!existsSync(file) && logBytes === 0) return;
  const taken = existsSync(file) ? file : log;
  throw new MirrorError(
    "exists",
    taken,
    "There is a mirror already, and restoring never changes one",
    "Restore to another file with --mirror FILE, or move this one away with its -wal and -shm.",
  );
}
