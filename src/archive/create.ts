/** Makes a backup of a mirror: one file, whole or absent, without a request to the service. */
import { requireRestorable } from "../mirror/bookkeeping/restore-rows.ts";
import { type MirrorReader, readMirror } from "../mirror/reader.ts";
import { requireStrongPassphrase } from "./container/encryption.ts";
import { withPassphrase } from "./container/open.ts";
import { readContents } from "./contents/entries.ts";
import { readLinkedCatalogue } from "./contents/linked-catalogue.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { backupName } from "./destination.ts";
import { BackupError } from "./errors.ts";
import { verifyBackup } from "./verify.ts";
import { type WriteArchiveRequest, type WrittenArchive, writeArchive } from "./write-archive.ts";

export interface CreateBackupRequest extends WriteArchiveRequest {
  /**
   * The catalogue's mirror, for the resources that an account's bras link to; it need not exist. Default: none, so the backup
   * has no catalogue part.
   */
  readonly catalogue?: string | null;
  /** The account's name; null for a mirror that was given as a file. */
  readonly account: string | null;
  /** Makes a page of the account, as HTML, which is only for reading. Default: none. */
  readonly renderPage?: RenderPage;
}

/** The folder `media` beside the page has the pictures. The same state must give the same page. */
export type RenderPage = (mirror: MirrorReader) => Promise<string>;

/** A backup that was written and read back. */
export interface CreatedBackup extends WrittenArchive {
  readonly isEncrypted: boolean;
  readonly manifest: BackupManifest;
  /** Why the catalogue's mirror could not be read, so the catalogue part is missing; else null. */
  readonly catalogueError: unknown;
}

/**
 * Writes a backup of a mirror, offline, and reads it again. On any error, an earlier file at `to` is unchanged and nothing is
 * left beside it.
 * @throws MirrorError, also `damaged` for a damaged body; BackupError; the signal's reason
 */
export async function createBackup(request: CreateBackupRequest): Promise<CreatedBackup> {
  return await readMirror(request.mirror, (mirror) => {
    // One read transaction: one instant of the mirror, while a sync may write it.
    mirror.db.exec("begin");
    return writeBackup(mirror, request);
  });
}

async function writeBackup(mirror: MirrorReader, request: CreateBackupRequest): Promise<CreatedBackup> {
  const { passphrase } = request;
  if (passphrase !== undefined) requireStrongPassphrase(passphrase);
  await requireRestorable(mirror);
  const catalogue = readLinkedCatalogue(mirror, request.catalogue ?? null);
  const page = mirror.identity.area === "account" ? ((await request.renderPage?.(mirror)) ?? null) : null;
  const { manifest, ...content } = readContents(mirror, request.account, { catalogue, page });
  const isEncrypted = passphrase !== undefined;
  const written = await writeArchive({
    ...request,
    name: backupName(manifest, request.mirror, isEncrypted),
    content,
    isSame: (file, rootHash) => isSameBackup(file, rootHash, passphrase),
  });
  return { ...written, isEncrypted, manifest, catalogueError: catalogue.error };
}

/** A sound backup with the same root hash has the same content; encrypted again, its bytes differ. */
async function isSameBackup(file: string, rootHash: string, passphrase?: string): Promise<boolean> {
  const report = await verifyBackup({ file, ...withPassphrase(passphrase) }).catch((error) => {
    if (error instanceof BackupError) return null;
    throw error;
  });
  return report?.rootHash === rootHash && report.problems.length === 0;
}

/**
 * Reads a new backup again, to its last byte: a failing disk may store other bytes than it was given.
 * @throws BackupError `damaged`
 */
export async function verifyWritten(
  { file, rootHash }: Pick<CreatedBackup, "file" | "rootHash">,
  { passphrase }: { readonly passphrase?: string },
): Promise<void> {
  const [problem] = (await verifyBackup({ file, rootHash, ...withPassphrase(passphrase) })).problems;
  if (problem === undefined) return;
  throw new BackupError(
    "damaged",
    `Verification failed: the file on disk differs from what was written: ${file}: ${problem.message}`,
    "The disk or its cable may be failing. Nothing was removed; back up to another place.",
  );
}
