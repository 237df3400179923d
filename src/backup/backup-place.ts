/** Where a new backup goes: told before a request is spent, and before anybody is asked for a passphrase. */
import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isSystemError } from "../mirror/file/system-error.ts";
import { BackupError } from "./backup-error.ts";
import { encryptedEnding, plainEnding } from "./backup-name.ts";
import { beginningBytes, isEncrypted as isEncryptedBeginning } from "./encryption.ts";
import { toReadingError } from "./open-backup.ts";
import { writeBeside } from "./whole-file.ts";

export interface PlaceRequest {
  /** A file that ends in `.zip` or, encrypted, in `.zip.age`; or a folder. */
  readonly to: string;
  readonly isEncrypted: boolean;
}

/** @param name of the file, where `to` is a folder. @throws BackupError `not-found`, `wrong-place` */
export function placeOf({ to, isEncrypted }: PlaceRequest, name: string): string {
  const place = resolve(to);
  if (isFolder(place)) return join(place, name);
  const [ending, otherEnding] = isEncrypted ? [encryptedEnding, plainEnding] : [plainEnding, encryptedEnding];
  if (place.endsWith(ending)) {
    if (isFolder(dirname(place))) return place;
    throw noFolder(dirname(place), ending);
  }
  if (place.endsWith(otherEnding)) throw otherwiseEncrypted(place, isEncrypted);
  if (statsOf(place) === undefined) throw noFolder(place, ending);
  throw noFolderButFile(place, `Name a folder, or a file that ends in ${ending}.`);
}

/** Tries it out. @throws BackupError `not-found`, `wrong-place`, `write-failed`, and `exists` where that can be told already */
export async function requirePlace(request: PlaceRequest & { readonly replace?: boolean }): Promise<void> {
  const place = placeOf(request, "backup");
  if (!isFolder(resolve(request.to)) && request.isEncrypted && !request.replace && isPlainFile(place))
    throw isTaken(place);
  await requireWritable(dirname(place));
}

/** @throws BackupError `not-found`, `wrong-place`, `write-failed` */
export async function requireFolder(to: string): Promise<void> {
  const folder = resolve(to);
  if (!isFolder(folder)) {
    if (statsOf(folder) !== undefined)
      throw noFolderButFile(folder, "Name a folder: each run makes a file of its own in it.");
    throw new BackupError("not-found", `There is no folder ${folder}`, "Make it first, or name another one.");
  }
  await requireWritable(folder);
}

export function isTaken(file: string): BackupError {
  return new BackupError(
    "exists",
    `There is another file already: ${file}`,
    "Give another name or folder, or --replace to put the new backup in its place.",
  );
}

async function requireWritable(folder: string): Promise<void> {
  try {
    await (await writeBeside(join(folder, "backup"), [])).discard();
  } catch (error) {
    throw toWritingError(error, folder);
  }
}

const isFolder = (path: string) => statsOf(path)?.isDirectory() ?? false;

/** Undefined where nothing is there. @throws BackupError `write-failed` where that cannot be told */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw toWritingError(error, path);
  }
}

function toWritingError(error: unknown, place: string): unknown {
  if (!isSystemError(error)) return error;
  const hint = "Make room, or name a folder that you may write.";
  return new BackupError("write-failed", `Cannot write to ${place}: ${error.message}`, hint, {
    cause: error,
  });
}

/** A file that is there and not encrypted, so that it cannot be the same backup. @throws BackupError `unreadable` */
function isPlainFile(path: string): boolean {
  if (statsOf(path)?.isFile() !== true) return false;
  try {
    const file = openSync(path, "r");
    try {
      const head = Buffer.alloc(beginningBytes);
      return !isEncryptedBeginning(head.subarray(0, readSync(file, head)));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw toReadingError(error, path);
  }
}

function noFolder(folder: string, ending: string): BackupError {
  const hint = `Make it first, or name a file that ends in ${ending} in a folder that is there.`;
  return new BackupError("not-found", `There is no folder ${folder}`, hint);
}

function noFolderButFile(path: string, hint: string): BackupError {
  return new BackupError("wrong-place", `This is no folder: ${path}`, hint);
}

function otherwiseEncrypted(place: string, isEncrypted: boolean): BackupError {
  return isEncrypted
    ? new BackupError(
        "wrong-place",
        `The file of an encrypted backup ends in ${encryptedEnding}: ${place}`,
        `Name it ${place.slice(0, -plainEnding.length)}${encryptedEnding}, or leave --encrypt out.`,
      )
    : new BackupError(
        "wrong-place",
        `Only an encrypted backup's file ends in ${encryptedEnding}: ${place}`,
        `Add --encrypt, or name a file that ends in ${plainEnding}.`,
      );
}
