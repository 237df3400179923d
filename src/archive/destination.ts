/** Where a new backup goes, and its name. Checked before a request is spent, and before a passphrase is prompted for. */
import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { writeTemporary } from "../platform/atomic-file.ts";
import { isSystemError } from "../platform/errors.ts";
import { requireRegularFile } from "../platform/files/regular-files.ts";
import { requireNotOwnFolder } from "../platform/files/replaceable-files.ts";
import { ageHeaderBytes, isEncrypted as hasAgeHeader } from "./container/encryption.ts";
import { toReadingError } from "./container/open.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { BackupError } from "./errors.ts";

export interface PlaceRequest {
  /** A file that ends in `.zip` or, encrypted, in `.zip.age`; or a folder. */
  readonly to: string;
  readonly isEncrypted: boolean;
  /** Whether missing folders are made, as for other outputs. A backup's must exist: its drive may not be connected. */
  readonly makesFolders?: boolean;
}

/**
 * @param name the file's name if `to` is a folder
 * @throws BackupError `not-found`, `wrong-place`; FileError `not-replaceable` for one of Armoire's own folders
 */
export function resolveDestination(
  { to, isEncrypted, makesFolders = false }: PlaceRequest,
  name: string,
): string {
  const place = resolve(to);
  requireNotOwnFolder(isFolder(place) ? place : dirname(place));
  if (isFolder(place)) return join(place, name);
  const [extension, otherExtension] = isEncrypted
    ? [encryptedExtension, plainExtension]
    : [plainExtension, encryptedExtension];
  if (place.endsWith(extension)) {
    if (isFolder(dirname(place)) || makesFolders) return place;
    throw noFolder(dirname(place), extension);
  }
  if (place.endsWith(otherExtension)) throw wrongExtension(place, isEncrypted);
  if (statsOf(place) === undefined && makesFolders) return join(place, name);
  if (statsOf(place) === undefined) throw noFolder(place, extension);
  throw notAFolder(place, `Name a folder, or a file that ends in ${extension}.`);
}

/**
 * Checks that a backup can be written there.
 * @throws BackupError `not-found`, `wrong-place`, `write-failed`, and `exists` if that is certain before the backup is made;
 * FileError `not-a-file`
 */
export async function requirePlace(request: PlaceRequest & { readonly replace?: boolean }): Promise<void> {
  const place = resolveDestination(request, "backup");
  requireRegularFile(place);
  // An existing plain file is never the same backup as an encrypted one.
  if (!isFolder(resolve(request.to)) && request.isEncrypted && !request.replace && isPlainFile(place))
    throw fileExists(place);
  if (!request.makesFolders || isFolder(dirname(place))) await requireWritable(dirname(place));
}

/** @throws BackupError `not-found`, `wrong-place`, `write-failed`; FileError `not-replaceable` for one of Armoire's own folders */
export async function requireFolder(to: string): Promise<void> {
  const folder = resolve(to);
  requireNotOwnFolder(folder);
  if (!isFolder(folder)) {
    if (statsOf(folder) !== undefined)
      throw notAFolder(folder, "Name a folder: each run makes a file of its own in it.");
    throw new BackupError(
      "not-found",
      `There is no folder: ${folder}`,
      "Make it first, or name another one.",
    );
  }
  await requireWritable(folder);
}

export function fileExists(file: string): BackupError {
  return new BackupError(
    "exists",
    `Another file exists there: ${file}`,
    "Give another name or folder, or replace the file with --replace.",
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

/** Undefined if nothing exists there. @throws BackupError `write-failed` */
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

/** @throws BackupError `unreadable` */
function isPlainFile(path: string): boolean {
  if (statsOf(path)?.isFile() !== true) return false;
  try {
    const file = openSync(path, "r");
    try {
      const head = Buffer.alloc(ageHeaderBytes);
      return !hasAgeHeader(head.subarray(0, readSync(file, head)));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw toReadingError(error, path);
  }
}

function noFolder(folder: string, extension: string): BackupError {
  const hint = `Make it first, or name a file that ends in ${extension} in an existing folder.`;
  return new BackupError("not-found", `There is no folder: ${folder}`, hint);
}

function notAFolder(path: string, hint: string): BackupError {
  return new BackupError("wrong-place", `This is not a folder: ${path}`, hint);
}

function wrongExtension(place: string, isEncrypted: boolean): BackupError {
  return isEncrypted
    ? new BackupError(
        "wrong-place",
        `The file of an encrypted backup must end in ${encryptedExtension}: ${place}`,
        `Name it ${place.slice(0, -plainExtension.length)}${encryptedExtension}, or omit --encrypt.`,
      )
    : new BackupError(
        "wrong-place",
        `Only the file of an encrypted backup may end in ${encryptedExtension}: ${place}`,
        `Add --encrypt, or name a file that ends in ${plainExtension}.`,
      );
}

const plainExtension = ".zip";
const encryptedExtension = ".zip.age";

type NamedState = Pick<BackupManifest, "account" | "state">;

/** Windows allows no colon in a file's name. */
const timeInName = ({ at }: BackupManifest["state"]): string => at.slice(0, 19).replaceAll(":", "");

/**
 * The default name. Sorted by name, the backups of an account are in the order of their states.
 * @param mirrorFile names the backup if there is no account
 */
export function backupName({ account, state }: NamedState, mirrorFile: string, isEncrypted: boolean): string {
  const stem =
    account ??
    basename(mirrorFile)
      .replace(/\.[^.]*$/, "")
      .replace(/[^A-Za-z0-9_-]+/g, "-");
  return `armoire-${stem}-${timeInName(state)}Z${isEncrypted ? encryptedExtension : plainExtension}`;
}

/** The name of the `n`th state (from the second on) within one second. It sorts after the one before it. */
export function numberedName(file: string, n: number): string {
  const extension = file.endsWith(encryptedExtension) ? encryptedExtension : plainExtension;
  return `${file.slice(0, -extension.length)}_${String(n).padStart(2, "0")}${extension}`;
}

const defaultName = /^armoire-(?<stem>.+)-(?<time>\d{4}-\d{2}-\d{2}T\d{6})Z(?:_\d{2,})?\.zip(?:\.age)?$/;

/** Whether Armoire gave the file of a backup its name, rather than the user, who may have renamed it. */
export function hasDefaultName(name: string, { account, state }: NamedState): boolean {
  const { stem, time } = defaultName.exec(name)?.groups ?? {};
  return time === timeInName(state) && (account === null || account === stem);
}

/** Whether a file may be a backup, by its name. */
export const mayBeBackup = (name: string): boolean =>
  !name.startsWith(".") && (name.endsWith(plainExtension) || name.endsWith(encryptedExtension));

/** Whether a file claims to be a backup, by its name. */
export const isNamedAsBackup = (name: string): boolean => name.startsWith("armoire-") && mayBeBackup(name);
