/** All of it in one go, fit for a timer: the mirror brought up to date, a backup made and read back, old ones let go. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { RetentionPolicy } from "../mirror/runs/retention.ts";
import { withPassphrase } from "./container/open.ts";
import { type CreateBackupRequest, type CreatedBackup, createBackup, verifyWritten } from "./create.ts";
import { requireFolder } from "./destination.ts";
import { BackupError } from "./errors.ts";
import { type PruneReport, pruneBackups } from "./prune.ts";

export interface BackUpRequest<Synced> extends CreateBackupRequest {
  /** A folder; looked at before the sync. */
  readonly to: string;
  /** Brings the mirror up to date. What it throws keeps nobody from a backup of what is held. */
  readonly sync: () => Promise<Synced>;
  /** Which earlier backups of the account in the same folder stay; unless told, all. */
  readonly keep?: RetentionPolicy;
}

export interface BackedUp<Synced> {
  /** What `sync` gave, or what it threw. */
  readonly synced: { readonly report: Synced } | { readonly error: unknown };
  readonly created: CreatedBackup;
  /** Null without rules of what to keep, and where the sync failed or the catalogue could not be read: then nothing is let go. */
  readonly pruned: PruneReport | null;
}

/**
 * @throws BackupError, also `damaged` where what was written is not what is read back; MirrorError; the signal's reason; what
 * `sync` throws where there is nothing to back up
 */
export async function backUp<Synced>(request: BackUpRequest<Synced>): Promise<BackedUp<Synced>> {
  const { mirror, sync, keep, passphrase, signal } = request;
  await requireFolder(request.to);
  const synced = await sync().then(
    (report) => ({ report }),
    (error: unknown) => ({ error }),
  );
  signal?.throwIfAborted();
  if ("error" in synced && !existsSync(mirror)) throw synced.error;
  const created = await createBackup(request).catch((error: unknown) => {
    const hasNothing = error instanceof BackupError && error.code === "nothing-held";
    throw hasNothing && "error" in synced ? synced.error : error;
  });
  await verifyWritten(created, request);
  // An earlier one may be all that still tells what her bras are.
  const prunes = keep !== undefined && !("error" in synced) && created.catalogueError === null;
  const pruning = {
    folder: dirname(created.file),
    of: created.manifest,
    isPreview: false,
    ...withPassphrase(passphrase),
  };
  const pruned = prunes ? await pruneBackups({ ...pruning, keep, ...(signal && { signal }) }) : null;
  return { synced, created, pruned };
}
