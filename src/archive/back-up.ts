/** Sync, back up, verify, prune: all in one call, for a timer. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { RetentionPolicy } from "../mirror/runs/retention.ts";
import { requireStrongPassphrase } from "./container/encryption.ts";
import { withPassphrase } from "./container/open.ts";
import { type CreateBackupRequest, type CreatedBackup, createBackup, verifyWritten } from "./create.ts";
import { requireFolder } from "./destination.ts";
import { BackupError } from "./errors.ts";
import { type PruneReport, pruneBackups } from "./prune.ts";

export interface BackUpRequest<Synced> extends CreateBackupRequest {
  /** A folder; checked before the sync. */
  readonly to: string;
  /** Brings the mirror up to date. If it fails, the mirror is backed up as it is. */
  readonly sync: () => Promise<Synced>;
  /** Which earlier backups of the account in the folder to keep. Default: all. */
  readonly keep?: RetentionPolicy;
}

export interface BackedUp<Synced> {
  /** What `sync` returned or threw. */
  readonly synced: { readonly report: Synced } | { readonly error: unknown };
  /** The backup that was written, also after a failed sync. */
  readonly created: CreatedBackup;
  /** Null without `keep`, and if the sync failed or the catalogue could not be read: then nothing is pruned. */
  readonly pruned: PruneReport | null;
}

/**
 * Syncs a mirror, writes a backup of it into a folder, and prunes the earlier ones there.
 * @throws BackupError, also `damaged` if the written file reads back differently; MirrorError; the signal's reason; the error
 * of `sync` if there is nothing to back up
 */
export async function backUp<Synced>(request: BackUpRequest<Synced>): Promise<BackedUp<Synced>> {
  const { mirror, sync, keep, passphrase, signal } = request;
  if (passphrase !== undefined) requireStrongPassphrase(passphrase);
  await requireFolder(request.to);
  const synced = await sync().then(
    (report) => ({ report }),
    (error: unknown) => ({ error }),
  );
  signal?.throwIfAborted();
  if ("error" in synced && !existsSync(mirror)) throw synced.error;
  const created = await createBackup(request).catch((error: unknown) => {
    const isEmpty = error instanceof BackupError && error.code === "nothing-held";
    throw isEmpty && "error" in synced ? synced.error : error;
  });
  await verifyWritten(created, request);
  // An earlier backup may hold the only copy of the catalogue part.
  const canPrune = keep !== undefined && !("error" in synced) && created.catalogueError === null;
  const pruning = {
    folder: dirname(created.file),
    of: created.manifest,
    isPreview: false,
    ...withPassphrase(passphrase),
  };
  const pruned = canPrune ? await pruneBackups({ ...pruning, keep, ...(signal && { signal }) }) : null;
  return { synced, created, pruned };
}
