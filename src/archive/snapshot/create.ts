/** Makes a snapshot of a catalogue's mirror: one file to share, whole or absent, without a request to the service. */
import { type MirrorReader, readMirror } from "../../mirror/reader.ts";
import { type Coverage, readCoverage } from "../../mirror/runs/coverage.ts";
import { requireRegularFile } from "../../platform/files/regular-files.ts";
import { requireReplaceable } from "../../platform/files/replaceable-files.ts";
import { removeFile } from "../../platform/folders.ts";
import { resolveDestination } from "../destination.ts";
import { BackupError } from "../errors.ts";
import { signatureFileOf, signStatement, writeSignatureFile } from "../signatures/signature.ts";
import type { SigningKey } from "../signatures/signing-key.ts";
import { type WriteArchiveRequest, type WrittenArchive, writeArchive } from "../write-archive.ts";
import { readWholeContents, type SnapshotPublication } from "./entries.ts";
import type { SnapshotManifest } from "./manifest.ts";
import { verifyContents } from "./open.ts";

export type CreateSnapshotRequest = Omit<WriteArchiveRequest, "passphrase"> &
  SnapshotPublication & {
    /** Signs it, in a file of its own beside it. */
    readonly signingKey?: SigningKey;
  };

export interface CreatedSnapshot extends WrittenArchive {
  readonly manifest: SnapshotManifest;
  /** How whole its mirror was, also of resources that are in no snapshot. */
  readonly mirrorCoverage: Coverage;
  /** The fingerprint of the key; null if it is not signed. */
  readonly signedBy: string | null;
}

/**
 * Writes a snapshot of a catalogue's mirror, offline. In `to`, `{date}` is replaced by the day. The file is read again after
 * writing. On any error, an earlier file at `to` is unchanged and nothing is left beside it.
 * @throws MirrorError, also `damaged` for a damaged body; BackupError, also `not-shareable` and `damaged` for a file that
 * reads back differently; the signal's reason
 */
export async function createSnapshot(request: CreateSnapshotRequest): Promise<CreatedSnapshot> {
  const created = await readMirror(request.mirror, (mirror) => {
    // One read transaction: one instant of the mirror, while a sync may write it.
    mirror.db.exec("begin");
    return writeSnapshot(mirror, request);
  });
  return { ...created, signedBy: await writeSignature(created, request.signingKey) };
}

/** The file of an earlier snapshot's signature goes: it is not of this one. @returns the key's fingerprint */
async function writeSignature(
  { file, rootHash, isNew, manifest }: UnsignedSnapshot,
  key: SigningKey | undefined,
): Promise<string | null> {
  if (key === undefined) {
    if (isNew) removeFile(signatureFileOf(file));
    return null;
  }
  const statement = { baseUrl: manifest.service.baseUrl, sequence: null, rootHash };
  await writeSignatureFile(file, signStatement(statement, key));
  return key.fingerprint;
}

type UnsignedSnapshot = Omit<CreatedSnapshot, "signedBy">;

async function writeSnapshot(
  mirror: MirrorReader,
  request: CreateSnapshotRequest,
): Promise<UnsignedSnapshot> {
  const { manifest, ...content } = readWholeContents(mirror, request);
  const { takenOn } = manifest;
  const name = `catalogue-${takenOn}.zip`;
  const to = request.to.replaceAll("{date}", takenOn);
  // Before the snapshot is written, which would stay without its signature; an earlier one is removed or replaced.
  const signature = signatureFileOf(resolveDestination({ to, isEncrypted: false, makesFolders: true }, name));
  requireRegularFile(signature);
  requireReplaceable(signature);
  const mirrorCoverage = readCoverage(mirror);
  return {
    ...(await writeArchive({ ...request, to, name, content, isSame: isSameContent, isPublic: true })),
    ...{ manifest, mirrorCoverage },
  };
}

/** Whether a file is a sound snapshot with this root hash. */
export async function isSameContent(file: string, rootHash: string): Promise<boolean> {
  const report = await verifyContents({ file, rootHash }).catch((error) => {
    if (error instanceof BackupError) return null;
    throw error;
  });
  return report?.problems.length === 0;
}
