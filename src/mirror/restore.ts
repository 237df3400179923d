/** Restores a mirror from the rows and bodies of a backup: under a temporary name, then rebuilt, then renamed. */
import { existsSync, statSync } from "node:fs";
import { NotAnEnvelopeError } from "../../schema/envelope.ts";
import { JsonError } from "../../schema/json.ts";
import type { Kinds } from "../../schema/kind.ts";
import { type AccountUser, isSameUser, readAccountUser } from "./account/user.ts";
import { restoreBookkeeping } from "./bookkeeping/restore-rows.ts";
import { BookkeepingRowError, type PutBody, type PutRows } from "./bookkeeping/rows.ts";
import { deriveContextOf } from "./derive/derive.ts";
import { rebuildProjections } from "./derive/rebuild.ts";
import { type Connection, closeWritten, openForWriting } from "./file/connection.ts";
import { createMirror, leavePlace, lockPlace, type MirrorPlace } from "./file/create-mirror.ts";
import { MirrorError, toMirrorError } from "./file/errors.ts";
import type { MirrorIdentity } from "./file/meta.ts";
import { prepareRestoredPictures, type RestoredPictures } from "./media/media-files.ts";
import { readMirror } from "./reader.ts";
import { derivedUserIds } from "./rows/recorded-user.ts";

export interface RestoreMirrorOptions extends MirrorPlace {
  /** Must not exist, unless `replaces`. */
  readonly file: string;
  readonly identity: MirrorIdentity;
  /** The user whose data it must be; null for a catalogue. */
  readonly user: AccountUser | null;
  readonly kinds: Kinds;
  /** Replaces an earlier mirror, but only one of this user. Default: null, none. */
  readonly replaces?: AccountUser | null;
  /** Whether `fill` stores pictures, which need a folder beside the mirror. */
  readonly hasPictures: boolean;
  readonly fill: (putRows: PutRows, putBody: PutBody, putPicture: RestoredPictures["put"]) => Promise<void>;
}

/**
 * After an error there is neither a mirror nor a picture, and an earlier mirror that was to be replaced is unchanged.
 * @throws MirrorError, such as `exists`; FileError `locked`; BookkeepingRowError; errors of `fill`
 */
export async function restoreMirror(options: RestoreMirrorOptions): Promise<void> {
  const { file, identity, user, kinds, hasPictures, replaces = null } = options;
  const requireVacant = () => {
    if (replaces !== null && existsSync(file)) requireReplaceable(file, identity, replaces);
    else requireNoMirror(file);
  };
  requireVacant();
  if (hasPictures) prepareRestoredPictures(file);
  const lock = lockPlace(options);
  let pictures: RestoredPictures | null = null;
  try {
    requireVacant();
    if (existsSync(file)) emptyLog(file);
    if (hasPictures) pictures = prepareRestoredPictures(file);
    const putPicture: RestoredPictures["put"] = (bytes, type) => pictures?.put(bytes, type);
    await createMirror(file, identity, async (db) => {
      await restoreBookkeeping(db, { identity, user }, ({ putRows, putBody }) =>
        options.fill(putRows, putBody, putPicture),
      );
      try {
        rebuildProjections(db, identity.area, deriveContextOf(identity, kinds));
      } catch (error) {
        if (!(error instanceof NotAnEnvelopeError || error instanceof JsonError)) throw error;
        throw new BookkeepingRowError(`a body is no envelope: ${error.message}`, { cause: error });
      }
      requireOneUser(db, user);
    });
  } catch (error) {
    // If only flushing its name failed, the mirror is there and needs its pictures.
    if (!existsSync(file)) pictures?.undo();
    throw toMirrorError(error, file);
  } finally {
    leavePlace(lock, file);
  }
}

/** The user of the manifest, of the bookkeeping and of the body behind the link `me`. @throws BookkeepingRowError */
function requireOneUser(db: Connection, user: AccountUser | null): void {
  const isDerived = derivedUserIds(db).every((userId) => userId === (user?.userId ?? null));
  const recorded = isDerived ? readAccountUser(db) : null;
  const isOne =
    isDerived &&
    (user === null) === (recorded === null) &&
    (user === null ||
      recorded === null ||
      (user.userId === recorded.userId && user.username === recorded.username));
  if (!isOne) throw new BookkeepingRowError("its parts are of different users");
}

/** @throws MirrorError `exists` unless the mirror there is of the same user of the same service */
function requireReplaceable(file: string, { baseUrl, area }: MirrorIdentity, user: AccountUser): void {
  const present = readMirror(file, ({ db, identity }) => ({ identity, user: readAccountUser(db) }));
  const isSame = present.user !== null && isSameUser(present.user, user);
  if (isSame && present.identity.area === area && present.identity.baseUrl === baseUrl) return;
  throw new MirrorError(
    "exists",
    file,
    "The mirror there is of another user, so it is not replaced",
    "Restore to another file with --mirror FILE.",
  );
}

/** The log of the earlier mirror must not be read into the new one, nor be lost if the new one cannot be made. */
function emptyLog(file: string): void {
  closeWritten(openForWriting(file, { isPrivate: true }));
  if (!existsSync(`${file}-wal`)) return;
  throw new MirrorError(
    "unwritable",
    file,
    "The mirror to replace is being read by another process",
    "Wait until that has finished, or stop it.",
  );
}

/** A log without its main file may hold data, unless it is empty. */
function requireNoMirror(file: string): void {
  const log = `${file}-wal`;
  const logBytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (!existsSync(file) && logBytes === 0) return;
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new MirrorError(
      "exists",
      file,
      "A folder is there, where the mirror would be a file",
      "Give the name of a new file with --mirror FILE, or a new folder with --to DIR.",
    );
  throw new MirrorError(
    "exists",
    existsSync(file) ? file : log,
    "A mirror exists, and restoring never overwrites one",
    "Restore to another file with --mirror FILE, move this one away with its -wal and -shm, or replace the mirror of an account with --account NAME --replace.",
  );
}
