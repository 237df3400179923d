/** Backups in format 3, which had an entry for each body and no compression, are read as they were. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listBackups } from "../../src/archive/list.ts";
import { unpackBackup } from "../../src/archive/restore.ts";
import { verifyBackup } from "../../src/archive/verify.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { crawl } from "../mirror/support/mirror-rig.ts";
import { canonicalDump } from "../support/canonical-dump.ts";
import { startRigWithBackupFolder } from "./support/backup-rig.ts";
import { linkedAccountWorld } from "./support/linked-catalogue-rig.ts";

/** Made by the last version that wrote format 3, of the account of `linkedAccountWorld()` and its catalogue. */
const file = join(import.meta.dirname, "support/format-3.zip");
const rootHash = "e162e2f5d32709abd09219a06638223170f8d8314d2382aef6f0dc436cef3056";

it("a backup in format 3 is verified, with the root hash that was printed when it was made", async () => {
  const report = await verifyBackup({ file, rootHash });
  expect(report).toMatchObject({ rootHash, problems: [], entries: 47, manifest: { formatVersion: 3 } });
});

it("a backup in format 3 restores the mirror that a new backup restores", async () => {
  await using rig = await startRigWithBackupFolder();
  crawl(rig.mirror, linkedAccountWorld());
  await copyFile(file, rig.path("old.zip"));
  await rig.create("new.zip");
  const [old, recent] = [
    await rig.restore("old.zip", "old.sqlite"),
    await rig.restore("new.zip", "new.sqlite"),
  ];
  expect(old.check.problems).toEqual([]);
  const [before, after] = [openMirrorReader(old.mirror), openMirrorReader(recent.mirror)];
  expect(canonicalDump(before)).toEqual(canonicalDump(after));
  before.close();
  after.close();
  await unpackBackup({ file, folder: rig.path("files") });
});

it("a list compares a backup in format 3 with a later one", async () => {
  await using rig = await startRigWithBackupFolder();
  await copyFile(file, rig.path("backups/armoire-ada-1.zip"));
  const { mirror } = await rig.restore("backups/armoire-ada-1.zip", "restored.sqlite");
  await rig.create("backups/armoire-ada-2.zip", { mirror });
  const changes = [];
  for await (const backup of listBackups({ folder: rig.path("backups") }))
    changes.push(backup.isSound ? backup.changes : backup);
  // The later one has no catalogue part.
  const removed = { removed: 2 };
  expect(changes).toEqual([null, { brand: removed, model: removed, size: removed }]);
});
