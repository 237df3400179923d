/** Lists the backups in a folder: their manifests, whether they are sound, and the changes since the one before. */
import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { Totals } from "../change/change.ts";
import { isSystemError } from "../platform/errors.ts";
import { type AskPassphrase, toReadingError } from "./container/open.ts";
import type { BackupProblem } from "./container/scan.ts";
import { manifestEntry } from "./contents/entry-names.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { type BackupState, changesBetween, collectState } from "./contents/state.ts";
import { isNamedAsBackup, mayBeBackup } from "./destination.ts";
import { BackupError } from "./errors.ts";
import { type VerifyReport, verifyBackup } from "./verify.ts";

export interface ListRequest {
  readonly folder: string;
  /**
   * Only backups of this owner, and files whose owner is unknown. Default: all. Another user's account of the same name is
   * another owner.
   */
  readonly of?: BackupOwner;
  /** Without it, encrypted backups are listed by name only. */
  readonly askPassphrase?: AskPassphrase;
  /** Ends the iteration; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** The owner of a backup, as in its manifest. */
export interface BackupOwner extends Pick<BackupManifest, "service" | "area" | "user" | "account"> {
  /** Only backups of mirrors with this id. Default: all. */
  readonly mirrorId?: string | null;
}

export type ListedBackup = SoundBackup | FaultyBackup;

export interface SoundBackup {
  /** The absolute path. */
  readonly file: string;
  readonly isSound: true;
  /** The size of the file. */
  readonly bytes: number;
  readonly isEncrypted: boolean;
  readonly manifest: BackupManifest;
  /** In hex. */
  readonly rootHash: string;
  /**
   * The changes since the backup before it of the same mirror, by kind; null if there is none, or if it is of a later state.
   */
  readonly changes: Totals | null;
}

export interface FaultyBackup {
  /** The absolute path. */
  readonly file: string;
  readonly isSound: false;
  /** Why it is none, or cannot be read. */
  readonly code: Extract<
    BackupError["code"],
    "damaged" | "other-version" | "other-contents" | "needs-passphrase" | "wrong-passphrase" | "unreadable"
  >;
  /** More than one only for `damaged`. */
  readonly problems: readonly BackupProblem[];
}

/**
 * The backups of a folder, each verified, in the order of their names: those of an account are in the order of their states.
 * @throws BackupError
 */
export async function* listBackups(request: ListRequest): AsyncGenerator<ListedBackup> {
  const folder = resolve(request.folder);
  const previousStates = new Map<string, { readonly at: string; readonly state: BackupState }>();
  for (const name of await namesIn(folder)) {
    request.signal?.throwIfAborted();
    const file = join(folder, name);
    const collector = collectState();
    const examined = await examine(file, request.askPassphrase, collector.visitor);
    if (!("rootHash" in examined)) {
      yield examined;
      continue;
    }
    const { manifest } = examined;
    if (request.of !== undefined && !isOwnedBy(manifest, request.of)) continue;
    const state = collector.state(manifest);
    const previous = previousStates.get(mirrorOf(manifest));
    const isLater = previous !== undefined && previous.at <= manifest.state.at;
    yield { ...examined, changes: isLater ? changesBetween(previous.state, state) : null };
    previousStates.set(mirrorOf(manifest), { at: manifest.state.at, state });
  }
}

/**
 * Groups backups by owner and mirror. Only backups of one group are compared, and only within a group does a newer one replace
 * an older one: two mirrors of one user have two histories, although their runs have the same numbers.
 */
export const mirrorOf = (manifest: BackupManifest): string =>
  JSON.stringify([dataOf(manifest), manifest.mirrorId]);

/** Groups backups by owner. The user is identified by id rather than by name, which can change. */
export const dataOf = ({ service, area, user, account }: BackupOwner): string =>
  JSON.stringify([service.baseUrl, area, user?.userId ?? user?.username ?? account]);

const isOwnedBy = (backup: BackupOwner, owner: BackupOwner): boolean =>
  backup.account === owner.account &&
  dataOf(backup) === dataOf(owner) &&
  (owner.mirrorId === undefined || backup.mirrorId === owner.mirrorId);

async function examine(
  file: string,
  askPassphrase: AskPassphrase | undefined,
  visitor: Parameters<typeof verifyBackup>[1],
): Promise<Omit<SoundBackup, "changes"> | FaultyBackup> {
  let report: VerifyReport;
  try {
    report = await verifyBackup({ file, ...(askPassphrase && { askPassphrase }) }, visitor);
  } catch (error) {
    if (!(error instanceof BackupError) || !isFault(error.code)) throw error;
    return { file, isSound: false, code: error.code, problems: [{ entry: null, message: error.message }] };
  }
  const { bytes, isEncrypted, manifest, rootHash, problems } = report;
  if (problems.length === 0 && manifest !== null && rootHash !== null)
    return { file, isSound: true, bytes, isEncrypted, manifest, rootHash };
  // Under another name, and without even a damaged manifest in our form, it may be any other ZIP file.
  const hasManifest = manifest !== null || problems.some(({ entry }) => entry === manifestEntry);
  const isOurs = hasManifest || isNamedAsBackup(basename(file));
  return { file, isSound: false, code: isOurs ? "damaged" : "unreadable", problems };
}

function isFault(code: BackupError["code"]): code is FaultyBackup["code"] {
  return ["other-version", "other-contents", "needs-passphrase", "wrong-passphrase", "unreadable"].includes(
    code,
  );
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(mayBeBackup).sort();
  } catch (error) {
    throw toFolderError(error, folder);
  }
}

function toFolderError(error: unknown, folder: string): unknown {
  const code = isSystemError(error) ? error.code : null;
  const hint = "Name the folder of the backups. For one file, use `armoire backup verify FILE`.";
  if (code === "ENOENT")
    return new BackupError("not-found", `There is no folder: ${folder}`, hint, { cause: error });
  if (code === "ENOTDIR")
    return new BackupError("not-found", `This is not a folder: ${folder}`, hint, { cause: error });
  return toReadingError(error, folder);
}
