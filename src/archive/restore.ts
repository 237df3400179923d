/**
 * From a backup back to a mirror, or to its files. It is read twice: once to the end before anything is written, and once to
 * write beside the place, where it is put by one rename if it was the same both times. Nothing that is there is ever changed.
 */

import { lstatSync } from "node:fs";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Kinds } from "../../schema/kind.ts";
import { type AccountUser, isSameUser, nameOfUser } from "../mirror/account/user.ts";
import { BookkeepingRowError } from "../mirror/bookkeeping-rows.ts";
import { type CheckReport, checkMirror } from "../mirror/check/check.ts";
import { readMirror } from "../mirror/reader.ts";
import { restoreMirror } from "../mirror/restore.ts";
import { writeNewFile } from "../platform/atomic-file.ts";
import { isSystemError } from "../platform/errors.ts";
import { makeFolders, makePartialFolder, recoverFolder, syncFolder } from "../platform/folders.ts";
import { openBackup } from "./container/open.ts";
import { scanBackup, type VisitEntry } from "./container/scan.ts";
import { parseRows } from "./contents/bookkeeping.ts";
import { bodyOf, bookkeepingOf, pictureOf } from "./contents/entry-names.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { BackupError } from "./errors.ts";
import { type VerifyReport, type VerifyRequest, verifyBackup } from "./verify.ts";

export interface RestoreMirrorRequest extends VerifyRequest {
  /** The new mirror's file. */
  readonly mirror: string;
  readonly kinds: Kinds;
  /** ISO 8601; told to whoever finds the mirror locked. */
  readonly openedAt: string;
  /** The account that it must be of; unless told, it may be of anybody's. */
  readonly of?: { readonly baseUrl: string; readonly user: AccountUser };
}

export interface RestoredMirror {
  readonly mirror: string;
  readonly manifest: BackupManifest;
  readonly rootHash: string;
  /** What `mirror check` says of it. */
  readonly check: CheckReport;
}

/** @throws BackupError, also `other-account`; MirrorError, also `exists` */
export async function restoreBackup(request: RestoreMirrorRequest): Promise<RestoredMirror> {
  const { file, mirror, kinds, openedAt } = request;
  let hasPictures = false;
  const { manifest, rootHash } = await requireSound(request, ({ name }) => {
    if (pictureOf(name) !== null) hasPictures = true;
  });
  requireOf(request, manifest);
  const { baseUrl, name: serviceName } = manifest.service;
  const identity = { baseUrl, area: manifest.area, serviceName };
  try {
    await restoreMirror({
      file: mirror,
      identity,
      kinds,
      openedAt,
      hasPictures,
      fill: (putRows, putBody, putPicture) =>
        readAgain(request, rootHash, ({ name, content }) => {
          const table = bookkeepingOf(name);
          const body = bodyOf(name);
          if (table !== null)
            putRows(
              table,
              parseRows(content, () => {}),
            );
          if (body !== null) putBody(body, content);
          if (pictureOf(name) !== null) putPicture(content);
        }),
    });
  } catch (error) {
    if (!(error instanceof BookkeepingRowError)) throw error;
    throw damaged(file, `its bookkeeping is not a mirror's (${error.message})`, error);
  }
  return { mirror, manifest, rootHash, check: check(mirror, kinds) };
}

function requireOf({ of }: RestoreMirrorRequest, { service, area, user }: BackupManifest): void {
  if (of === undefined) return;
  if (area === "catalogue") {
    throw new BackupError(
      "other-account",
      `The backup is of the catalogue of ${service.baseUrl}, and of no account`,
      "Restore it to a file of its own with --mirror FILE, or take a backup of this account.",
    );
  }
  if (service.baseUrl === of.baseUrl && user !== null && isSameUser(user, of.user)) return;
  const whose = user === null ? "nobody that is known" : nameOfUser(user);
  throw new BackupError(
    "other-account",
    `The backup is of ${whose} at ${service.baseUrl}, not of ${nameOfUser(of.user)} at ${of.baseUrl}`,
    "Restore it to a file of its own with --mirror FILE, or take a backup of this account.",
  );
}

export interface UnpackRequest extends VerifyRequest {
  /** A folder that is not there yet, or is empty. */
  readonly folder: string;
}

/** The files of a backup as they are in it. @throws BackupError */
export async function unpackBackup(request: UnpackRequest): Promise<Sound> {
  const sound = await requireSound(request);
  await unpackTo(request.folder, (visit) => readAgain(request, sound.rootHash, visit));
  return sound;
}

interface Sound {
  readonly manifest: BackupManifest;
  readonly rootHash: string;
}

async function requireSound(request: VerifyRequest, visit?: VisitEntry): Promise<Sound> {
  const { rootHash: remembered, ...whatever } = request;
  const { manifest, rootHash, problems }: VerifyReport = await verifyBackup(whatever, visit);
  const [problem] = problems;
  if (problem === undefined && manifest !== null && rootHash !== null) {
    if (remembered === undefined || remembered.toLowerCase() === rootHash) return { manifest, rootHash };
    throw new BackupError(
      "damaged",
      `The backup is another one than that of the root hash, or a forged one, and nothing was restored: ${request.file}`,
      `Its root hash is ${rootHash}. Restore the one that you mean; without --root-hash any is restored.`,
    );
  }
  throw damaged(request.file, describeProblem(problem ?? { entry: null, what: "it is not whole" }));
}

const describeProblem = ({ entry, what }: { entry: string | null; what: string }) =>
  entry === null ? what : `${entry}: ${what}`;

async function readAgain(request: VerifyRequest, rootHash: string, visit: VisitEntry): Promise<void> {
  const { chunks } = await openBackup(request.file, request.askPassphrase);
  const scan = await scanBackup(chunks(), visit);
  if (scan.rootHash !== rootHash || scan.problems.length > 0)
    throw damaged(request.file, "it has changed while it was read");
}

const check = (file: string, kinds: Kinds): CheckReport =>
  readMirror(file, (mirror) => checkMirror(mirror, kinds));

function damaged(file: string, what: string, cause?: unknown): BackupError {
  return new BackupError(
    "damaged",
    `The backup is damaged, and nothing was restored: ${file}: ${what}`,
    "Take another copy, or an earlier backup; `armoire backup verify FILE` tells all that is wrong.",
    { cause },
  );
}

/** The entries of a backup as files in a new folder, which is there as a whole or not at all. */

/**
 * @param read shows each entry once; their names have been compared with the fixed list
 * @throws BackupError `exists`, `write-failed`; what `read` throws
 */
export async function unpackTo(folder: string, read: (visit: VisitEntry) => Promise<void>): Promise<void> {
  const place = resolve(folder);
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
      // What has come there meanwhile is no empty folder, and in the way.
      if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) await rmdir(place);
      await rename(partial, place);
      syncFolder(dirname(place));
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = "Make room or choose another folder; nothing was written there.";
    throw new BackupError("write-failed", `Cannot write ${place}: ${error.message}`, hint, { cause: error });
  }
}

async function requireEmpty(place: string): Promise<void> {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined || (stats.isDirectory() && (await readdir(place)).length === 0)) return;
  throw new BackupError(
    "exists",
    `There is something already: ${place}`,
    "Restore into a folder that is new or empty: a backup is never mixed with what is there.",
  );
}
