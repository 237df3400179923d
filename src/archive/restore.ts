/**
 * Restores a mirror or the files of a backup. The backup is read twice: first to verify all of it, then to write beside the
 * destination. One rename puts the result in place, if both readings were the same. Nothing that exists is ever changed.
 */
import { lstatSync } from "node:fs";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Kinds } from "../../schema/kind.ts";
import { type AccountUser, isSameUser, nameOfUser } from "../mirror/account/user.ts";
import { BookkeepingRowError } from "../mirror/bookkeeping/rows.ts";
import { type CheckReport, checkMirror } from "../mirror/check/check.ts";
import { readMirror } from "../mirror/reader.ts";
import { restoreMirror } from "../mirror/restore.ts";
import { writeNewFile } from "../platform/atomic-file.ts";
import { isSystemError } from "../platform/errors.ts";
import { requireNotOwn, requireNotOwnFolder } from "../platform/files/replaceable-files.ts";
import { makeFolders, makePartialFolder, recoverFolder, syncFolder } from "../platform/folders.ts";
import { openBackup } from "./container/open.ts";
import { parseRows } from "./container/row-parts.ts";
import { type BackupVisitor, scanBackup } from "./contents/check-backup.ts";
import { bookkeepingOf, pageEntry, pictureOf, pictureTypeOf } from "./contents/entry-names.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { BackupError } from "./errors.ts";
import { type VerifyReport, type VerifyRequest, verifyBackup } from "./verify.ts";

export interface RestoreMirrorRequest extends VerifyRequest {
  /** The new mirror's file. */
  readonly mirror: string;
  /** `kinds` of this library. */
  readonly kinds: Kinds;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** The account that the backup must be of. Default: any. */
  readonly of?: { readonly baseUrl: string; readonly user: AccountUser };
  /** Throws if the account was removed meanwhile: then nothing is restored. */
  readonly requirePlace?: () => void;
  /** Replaces an earlier mirror of the same account. Default: false. */
  readonly replace?: boolean;
}

/** The new mirror, and what its backup says. */
export interface RestoredMirror {
  /** The new mirror's file. */
  readonly mirror: string;
  readonly manifest: BackupManifest;
  /** In hex. */
  readonly rootHash: string;
  /** The report of `mirror check`. */
  readonly check: CheckReport;
}

/**
 * Makes a mirror from a backup, once all of it is verified. On any error, there is no new mirror, and an earlier one is
 * unchanged.
 * @throws BackupError, also `other-account`; MirrorError, also `exists`
 */
export async function restoreBackup(request: RestoreMirrorRequest): Promise<RestoredMirror> {
  const { file, mirror, kinds, openedAt, requirePlace, replace = false } = request;
  // An account's mirror has its place among them.
  if (request.of === undefined) requireNotOwn(mirror);
  let hasPictures = false;
  const { manifest, rootHash } = await requireSound(request, {
    readsTables: false,
    entry({ name }) {
      if (pictureOf(name) !== null) hasPictures = true;
    },
  });
  requireOwner(request, manifest);
  const { baseUrl, name: serviceName } = manifest.service;
  const identity = { baseUrl, area: manifest.area, serviceName };
  try {
    await restoreMirror({
      file: mirror,
      identity,
      user: manifest.user,
      kinds,
      openedAt,
      ...(requirePlace && { requirePlace }),
      hasPictures,
      replaces: replace ? (request.of?.user ?? null) : null,
      fill: (putRows, putBody, putPicture) =>
        readAgain(request, rootHash, {
          readsTables: false,
          entry({ name, content }) {
            const table = bookkeepingOf(name);
            if (table !== null) putRows(table, parseRows(content));
            if (pictureOf(name) !== null) putPicture(content, pictureTypeOf(name));
          },
          body: putBody,
        }),
    });
  } catch (error) {
    if (!(error instanceof BookkeepingRowError)) throw error;
    throw damaged(file, `no mirror can be made of it (${error.message})`, error);
  }
  return { mirror, manifest, rootHash, check: readMirror(mirror, (reader) => checkMirror(reader, kinds)) };
}

function requireOwner({ of }: RestoreMirrorRequest, { service, area, user }: BackupManifest): void {
  if (of === undefined) return;
  if (area === "catalogue") {
    throw new BackupError(
      "other-account",
      `The backup is of the catalogue of ${service.baseUrl}, not of an account.`,
      "Restore it to a file of its own with --mirror FILE, or take a backup of this account.",
    );
  }
  if (service.baseUrl === of.baseUrl && user !== null && isSameUser(user, of.user)) return;
  const owner = user === null ? "an unknown user" : nameOfUser(user);
  throw new BackupError(
    "other-account",
    `The backup is of ${owner} at ${service.baseUrl}, not of ${nameOfUser(of.user)} at ${of.baseUrl}.`,
    "Restore it to a file of its own with --mirror FILE, or take a backup of this account.",
  );
}

export interface UnpackRequest extends VerifyRequest {
  /** A folder that does not exist or is empty. */
  readonly folder: string;
}

/**
 * Writes the entries of a backup as files, but not its page: that of a forged backup could run a program in a browser.
 * @throws BackupError
 */
export async function unpackBackup(request: UnpackRequest): Promise<SoundContent> {
  const sound = await requireSound(request);
  await unpackTo(request.folder, (visit) =>
    readAgain(request, sound.rootHash, {
      entry: (entry, manifest) => (entry.name === pageEntry ? undefined : visit(entry, manifest)),
    }),
  );
  return sound;
}

interface SoundContent {
  readonly manifest: BackupManifest;
  readonly rootHash: string;
}

async function requireSound(request: VerifyRequest, visitor?: BackupVisitor): Promise<SoundContent> {
  const { rootHash: expected, ...anyRootHash } = request;
  const { manifest, rootHash, problems }: VerifyReport = await verifyBackup(anyRootHash, visitor);
  const [problem] = problems;
  if (problem === undefined && manifest !== null && rootHash !== null) {
    if (expected === undefined || expected.toLowerCase() === rootHash) return { manifest, rootHash };
    throw new BackupError(
      "damaged",
      `Nothing was restored: this is another backup than the one with the given root hash, or a forged one: ${request.file}`,
      `Its root hash is ${rootHash}. Without --root-hash, any backup is restored.`,
    );
  }
  throw damaged(request.file, describeProblem(problem ?? { entry: null, message: "it is incomplete" }));
}

const describeProblem = ({ entry, message }: { entry: string | null; message: string }) =>
  entry === null ? message : `${entry}: ${message}`;

async function readAgain(request: VerifyRequest, rootHash: string, visitor: BackupVisitor): Promise<void> {
  const { chunks } = await openBackup(request.file, request.askPassphrase);
  const scan = await scanBackup(chunks(), visitor);
  if (scan.rootHash !== rootHash || scan.problems.length > 0)
    throw damaged(request.file, "it changed during reading");
}

function damaged(file: string, reason: string, cause?: unknown): BackupError {
  return new BackupError(
    "damaged",
    `Nothing was restored: the backup is damaged: ${file}: ${reason}`,
    "Take another copy, or an earlier backup. `armoire backup verify FILE` lists all damage inside the file.",
    { cause },
  );
}

/**
 * Writes entries as files in a new folder, which is whole or absent.
 * @param read passes each entry once; their names are safe (`requireSafeEntryName`)
 * @throws BackupError `exists`, `write-failed`; FileError `not-replaceable`; what `read` throws
 */
export async function unpackTo(
  folder: string,
  read: (visit: NonNullable<BackupVisitor["entry"]>) => Promise<void>,
): Promise<void> {
  const place = resolve(folder);
  requireNotOwnFolder(place);
  try {
    makeFolders(dirname(place));
    await requireEmpty(place);
    await recoverFolder(place);
    const partial = await makePartialFolder(place);
    try {
      const subfolders = new Set([partial]);
      await read(({ name, content }) => {
        const path = join(partial, name);
        makeFolders(dirname(path));
        subfolders.add(dirname(path));
        writeNewFile(path, content);
      });
      for (const subfolder of subfolders) syncFolder(subfolder);
      // Fails if something was put there meanwhile.
      if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) await rmdir(place);
      await rename(partial, place);
      syncFolder(dirname(place));
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = "Make room or choose another folder. Nothing was written there.";
    throw new BackupError("write-failed", `Cannot write ${place}: ${error.message}`, hint, { cause: error });
  }
}

async function requireEmpty(place: string): Promise<void> {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined || (stats.isDirectory() && (await readdir(place)).length === 0)) return;
  throw new BackupError(
    "exists",
    `The destination is ${stats.isDirectory() ? "not empty" : "not a folder"}: ${place}`,
    "Restore into a new or empty folder.",
  );
}
