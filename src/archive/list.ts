/** The backups in a folder: what each is of, whether it is sound, and what changed since the one before it. */
import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { Totals } from "../change/change.ts";
import { isSystemError } from "../platform/errors.ts";
import { type AskPassphrase, toReadingError } from "./container/open.ts";
import type { BackupProblem } from "./container/scan.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { type BackupState, changesBetween, collectState } from "./contents/state.ts";
import { isNamedAsBackup, mayBeBackup } from "./destination.ts";
import { BackupError } from "./errors.ts";
import { type VerifyReport, verifyBackup } from "./verify.ts";

export interface ListRequest {
  readonly folder: string;
  /** Only those of this account, and what does not tell whose it is; else all. Another user's of the same name are none of them. */
  readonly of?: BackupOwner;
  /** Without it, what is encrypted is only named. */
  readonly askPassphrase?: AskPassphrase;
  readonly signal?: AbortSignal;
}

/** As a manifest says it. */
export interface BackupOwner extends Pick<BackupManifest, "service" | "area" | "user" | "account"> {
  /** Only those of this line of mirrors; unless told, of all. */
  readonly lineage?: string | null;
}

export type ListedBackup = SoundBackup | FaultyBackup;

export interface SoundBackup {
  readonly file: string;
  readonly isSound: true;
  readonly bytes: number;
  readonly isEncrypted: boolean;
  readonly manifest: BackupManifest;
  readonly rootHash: string;
  /** Since the one before it of the same line of mirrors, where that is of an earlier state; else null. By kind: of her data, of what her bras are, and of pictures. */
  readonly changes: Totals | null;
}

export interface FaultyBackup {
  readonly file: string;
  readonly isSound: false;
  readonly code: Extract<
    BackupError["code"],
    "damaged" | "other-version" | "needs-passphrase" | "wrong-passphrase" | "unreadable"
  >;
  /** What is wrong, and where; more than one only where it is damaged. */
  readonly problems: readonly BackupProblem[];
}

/** One after the other, in the order of their names, by which those of an account are in the order of their states. @throws BackupError */
export async function* listBackups(request: ListRequest): AsyncGenerator<ListedBackup> {
  const folder = resolve(request.folder);
  const before = new Map<string, { readonly at: string; readonly state: BackupState }>();
  for (const name of await namesIn(folder)) {
    request.signal?.throwIfAborted();
    const file = join(folder, name);
    const collector = collectState();
    const examined = await examine(file, request.askPassphrase, collector.visit);
    if (!("rootHash" in examined)) {
      yield examined;
      continue;
    }
    const { manifest } = examined;
    if (request.of !== undefined && !isOf(manifest, request.of)) continue;
    const state = collector.state(manifest);
    const previous = before.get(lineOf(manifest));
    const isLater = previous !== undefined && previous.at <= manifest.state.at;
    yield { ...examined, changes: isLater ? changesBetween(previous.state, state) : null };
    before.set(lineOf(manifest), { at: manifest.state.at, state });
  }
}

/**
 * Backups that may be compared, and of which a newer one stands for an older one: those of mirrors that continue one another.
 * Another mirror of the same user has a history of its own, although its runs have the same numbers.
 */
export const lineOf = (manifest: BackupManifest): string =>
  JSON.stringify([dataOf(manifest), manifest.lineage]);

/** Whose data of which service: by the service's number of the user, since names can change. */
export const dataOf = ({ service, area, user, account }: BackupOwner): string =>
  JSON.stringify([service.baseUrl, area, user?.userId ?? user?.username ?? account]);

const isOf = (one: BackupOwner, other: BackupOwner): boolean =>
  one.account === other.account &&
  dataOf(one) === dataOf(other) &&
  (other.lineage === undefined || one.lineage === other.lineage);

async function examine(
  file: string,
  askPassphrase: AskPassphrase | undefined,
  visit: Parameters<typeof verifyBackup>[1],
): Promise<Omit<SoundBackup, "changes"> | FaultyBackup> {
  let report: VerifyReport;
  try {
    report = await verifyBackup({ file, ...(askPassphrase && { askPassphrase }) }, visit);
  } catch (error) {
    if (!(error instanceof BackupError) || !isOfTheFile(error.code)) throw error;
    return { file, isSound: false, code: error.code, problems: [{ entry: null, what: error.message }] };
  }
  const { bytes, isEncrypted, manifest, rootHash, problems } = report;
  if (problems.length === 0 && manifest !== null && rootHash !== null)
    return { file, isSound: true, bytes, isEncrypted, manifest, rootHash };
  // It may be another program's, or a backup that somebody gave another name and whose beginning is lost.
  const isOurs = manifest !== null || isNamedAsBackup(basename(file));
  return { file, isSound: false, code: isOurs ? "damaged" : "unreadable", problems };
}

function isOfTheFile(code: BackupError["code"]): code is FaultyBackup["code"] {
  return ["other-version", "needs-passphrase", "wrong-passphrase", "unreadable"].includes(code);
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
  const hint = "Name the folder that the backups are in; `armoire backup verify FILE` is about one of them.";
  if (code === "ENOENT")
    return new BackupError("not-found", `There is no folder ${folder}`, hint, { cause: error });
  if (code === "ENOTDIR")
    return new BackupError("not-found", `This is no folder: ${folder}`, hint, { cause: error });
  return toReadingError(error, folder);
}
