/** All of it in one go, fit for a timer: the mirror brought up to date, a backup made and read back, old ones let go. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { RetentionPolicy } from "../mirror/retention.ts";
import { BackupError } from "./backup-error.ts";
import { type CreateBackupRequest, type CreatedBackup, createBackup } from "./create-backup.ts";
import { type PruneReport, pruneBackups } from "./prune-backups.ts";
import { verifyBackup } from "./verify-backup.ts";

export interface BackUpRequest<Synced> extends CreateBackupRequest {
  /** Brings the mirror up to date. What it throws keeps nobody from a backup of what is held. */
  readonly sync: () => Promise<Synced>;
  /** Which earlier backups of the account in the same folder stay; unless told, all. */
  readonly keep?: RetentionPolicy;
}

export interface BackedUp<Synced> {
  /** What `sync` gave, or what it threw. */
  readonly synced: { readonly report: Synced } | { readonly error: unknown };
  readonly created: CreatedBackup;
  /** Null without rules of what to keep, and where the sync failed: then nothing is let go. */
  readonly pruned: PruneReport | null;
}

/**
 * @throws BackupError, also `damaged` where what was written is not what is read back; MirrorError; the signal's reason; what
 * `sync` throws where there is nothing to back up
 */
export async function backUp<Synced>(request: BackUpRequest<Synced>): Promise<BackedUp<Synced>> {
  const { mirror, sync, keep, passphrase, signal } = request;
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
  const reading = passphrase === undefined ? {} : { askPassphrase: async () => passphrase };
  await requireReadable(created, reading);
  const prunes = keep !== undefined && !("error" in synced);
  const pruning = { folder: dirname(created.file), of: created.manifest, isPreview: false, ...reading };
  const pruned = prunes ? await pruneBackups({ ...pruning, keep, ...(signal && { signal }) }) : null;
  return { synced, created, pruned };
}

async function requireReadable(
  { file, rootHash }: CreatedBackup,
  reading: { readonly askPassphrase?: () => Promise<string> },
): Promise<void> {
  const [problem] = (await verifyBackup({ file, rootHash, ...reading })).problems;
  if (problem === undefined) return;
  throw new BackupError(
    "damaged",
    `The backup that was just written reads back as another one: ${file}: ${problem.what}`,
    "The disk or its cable may be failing. Nothing was removed; back up to another place.",
  );
}
