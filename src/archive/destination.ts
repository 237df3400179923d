/** Where a new backup goes: told before a request is spent, and before anybody is asked for a passphrase. */
import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { writeTemporary } from "../platform/atomic-file.ts";
import { isSystemError } from "../platform/errors.ts";
import { beginningBytes, isEncrypted as isEncryptedBeginning } from "./container/encryption.ts";
import { toReadingError } from "./container/open.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { BackupError } from "./errors.ts";

export interface PlaceRequest {
  /** A file that ends in `.zip` or, encrypted, in `.zip.age`; or a folder. */
  readonly to: string;
  readonly isEncrypted: boolean;
}

/** @param name of the file, where `to` is a folder. @throws BackupError `not-found`, `wrong-place` */
export function resolveDestination({ to, isEncrypted }: PlaceRequest, name: string): string {
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
  const place = resolveDestination(request, "backup");
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
    await (await writeTemporary(join(folder, "backup"), [])).discard();
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

/** What a backup's file is called, unless told: sorted by name, those of an account are in the order of their states. */

export const plainEnding = ".zip";
export const encryptedEnding = ".zip.age";

/** @param mirrorFile gives the name where there is no account */
export function backupName(
  { account, state }: Pick<BackupManifest, "account" | "state">,
  mirrorFile: string,
  isEncrypted: boolean,
): string {
  const stem =
    account ??
    basename(mirrorFile)
      .replace(/\.[^.]*$/, "")
      .replace(/[^A-Za-z0-9_-]+/g, "-");
  // A colon is no part of a file's name on Windows, and seconds are enough to tell two runs apart.
  const at = state.at.slice(0, 19).replaceAll(":", "");
  return `armoire-${stem}-${at}Z${isEncrypted ? encryptedEnding : plainEnding}`;
}

/** The name of the `n`th backup of another state within one second, from the second on; sorted, it comes after the one before it. */
export function numbered(file: string, n: number): string {
  const ending = file.endsWith(encryptedEnding) ? encryptedEnding : plainEnding;
  return `${file.slice(0, -ending.length)}_${String(n).padStart(2, "0")}${ending}`;
}

const givenName = /^armoire-.+-\d{4}-\d{2}-\d{2}T\d{6}Z(?:_\d{2,})?\.zip(?:\.age)?$/;

/** Whether it has a name that we give, and not one that somebody chose for it. */
export const hasGivenName = (name: string): boolean => givenName.test(name);

/** Whether a file in a folder may be a backup, by its name. */
export const mayBeBackup = (name: string): boolean =>
  !name.startsWith(".") && (name.endsWith(plainEnding) || name.endsWith(encryptedEnding));

/** Whether it is called as ours are, whoever named it. */
export const isNamedAsBackup = (name: string): boolean => name.startsWith("armoire-") && mayBeBackup(name);
