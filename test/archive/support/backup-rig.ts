/** An account's mirror in a folder of its own, with its backups beside it. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { kinds } from "../../../jobs/kinds.ts";
import type { Scan } from "../../../src/archive/container/scan.ts";
import { scanBackup } from "../../../src/archive/contents/check-backup.ts";
import type { BackupManifest } from "../../../src/archive/contents/manifest.ts";
import { type CreateBackupRequest, type CreatedBackup, createBackup } from "../../../src/archive/create.ts";
import { type RestoredMirror, restoreBackup } from "../../../src/archive/restore.ts";
import { recordAccountUser } from "../../../src/mirror/account/user.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { type MirrorRig, someTime, startMirrorRig } from "../../mirror/support/mirror-rig.ts";
import { urlOf } from "../../mirror/support/world.ts";

export interface BackupRig extends MirrorRig {
  readonly mirror: MirrorWriter;
  path(name: string): string;
  create(name: string, more?: Partial<CreateBackupRequest>): Promise<CreatedBackup>;
  /** The bytes of a backup of the mirror's present state. */
  bytes(): Promise<Buffer>;
  restore(name: string, mirrorName: string): Promise<RestoredMirror>;
}

export async function startBackupRig(user = { userId: "7", username: "ada" }): Promise<BackupRig> {
  const rig = await startMirrorRig();
  const mirror = await rig.write({ area: "account" });
  recordAccountUser(mirror.db, user, urlOf("me/"));
  const path = (name: string) => join(rig.folder, name);
  const create: BackupRig["create"] = (name, more = {}) =>
    createBackup({ mirror: rig.file, account: "ada", to: path(name), ...more });
  return {
    ...rig,
    mirror,
    path,
    create,
    async bytes() {
      const { file } = await create("bytes.zip", { replace: true });
      return await readFile(file);
    },
    restore: (name, mirrorName) =>
      restoreBackup({ file: path(name), mirror: path(mirrorName), kinds, openedAt: someTime }),
  };
}

/** The rig with an empty folder `backups`. */
export async function startRigWithBackupFolder(): Promise<BackupRig> {
  const rig = await startBackupRig();
  await mkdir(rig.path("backups"));
  return rig;
}

/** Scans bytes as if they were a file. */
export const scanBytes = (bytes: Uint8Array): Promise<Scan<BackupManifest>> => scanBackup([bytes]);
