/** Makes a snapshot of a catalogue's mirror: one file to share, whole or absent, without a request to the service. */
import { type MirrorReader, readMirror } from "../../mirror/reader.ts";
import { BackupError } from "../errors.ts";
import { type WriteArchiveRequest, type WrittenArchive, writeArchive } from "../write-archive.ts";
import { readSnapshotContents, type SnapshotPublication } from "./entries.ts";
import type { SnapshotManifest } from "./manifest.ts";
import { verifySnapshot } from "./open.ts";

export type CreateSnapshotRequest = Omit<WriteArchiveRequest, "passphrase"> & SnapshotPublication;

export interface CreatedSnapshot extends WrittenArchive {
  readonly manifest: SnapshotManifest;
}

/**
 * On any error, an earlier file at `to` is unchanged and nothing is left beside it. The file is verified after writing.
 * @throws MirrorError, also `damaged` for a damaged body; BackupError, also `not-shareable`; the signal's reason
 */
export async function createSnapshot(request: CreateSnapshotRequest): Promise<CreatedSnapshot> {
  const created = await readMirror(request.mirror, (mirror) => {
    // One read transaction: one instant of the mirror, while a sync may write it.
    mirror.db.exec("begin");
    return writeSnapshot(mirror, request);
  });
  if (await isSame(created.file, created.rootHash)) return created;
  throw new BackupError(
    "damaged",
    `Verification failed: the file on disk differs from what was written: ${created.file}`,
    "The disk or its cable may be failing. Nothing was removed; write to another place.",
  );
}

async function writeSnapshot(mirror: MirrorReader, request: CreateSnapshotRequest): Promise<CreatedSnapshot> {
  const { manifest, ...content } = readSnapshotContents(mirror, request);
  const name = `catalogue-${manifest.takenOn}.zip`;
  return { ...(await writeArchive({ ...request, name, content, isSame })), manifest };
}

async function isSame(file: string, rootHash: string): Promise<boolean> {
  const report = await verifySnapshot({ file, rootHash }).catch((error) => {
    if (error instanceof BackupError) return null;
    throw error;
  });
  return report?.problems.length === 0;
}
