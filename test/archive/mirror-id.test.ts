/** Two mirrors of one user have two histories, although their runs have the same numbers: ids tell them apart. */
import { mkdir, readdir } from "node:fs/promises";
import { basename } from "node:path";
import { expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { backUp } from "../../src/archive/back-up.ts";
import { type ListedBackup, listBackups } from "../../src/archive/list.ts";
import { pruneBackups } from "../../src/archive/prune.ts";
import { formatList } from "../../src/cli/format/operations/backup.ts";
import { compactMirror } from "../../src/mirror/compact.ts";
import { readMirrorId } from "../../src/mirror/file/meta.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { openMirrorWriter } from "../../src/mirror/writer.ts";
import { crawl, someTime, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { baseUrl } from "../mirror/support/world.ts";
import { accountWorld } from "./support/account-world.ts";
import { type BackupRig, startBackupRig } from "./support/backup-rig.ts";

function mirrorIdOf(file: string): string | null {
  const mirror = openMirrorReader(file);
  try {
    return readMirrorId(mirror.db);
  } finally {
    mirror.close();
  }
}

const identity = { baseUrl, area: "account", serviceName: "service" } as const;

async function openAndClose(file: string): Promise<void> {
  (await openMirrorWriter({ file, identity, kinds, openedAt: someTime })).close();
}

/** A mirror with an id of its own: the rig copies new mirrors, and with them the id. */
async function startLaptop(mirrorId: string): Promise<BackupRig> {
  const rig = await startBackupRig();
  rig.mirror.db.prepare("update _meta set value = ? where key = 'mirror_id'").run(mirrorId);
  return rig;
}

function syncAt(rig: BackupRig, at: string): void {
  const { runId } = crawl(rig.mirror, accountWorld());
  rig.mirror.db.prepare("update _run set ended_at = ? where id = ?").run(at, runId);
}

async function list(folder: string): Promise<ListedBackup[]> {
  const listed: ListedBackup[] = [];
  for await (const backup of listBackups({ folder })) listed.push(backup);
  return listed;
}

it("every new mirror gets an id of its own, which never changes", async () => {
  await using first = await startMirrorRig(undefined, { makesItself: true });
  await using second = await startMirrorRig(undefined, { makesItself: true });
  for (const rig of [first, second]) (await rig.write({ area: "account" })).close();
  const mirrorId = mirrorIdOf(first.file);
  expect(mirrorId).toMatch(/^[0-9a-f]{32}$/);
  expect(mirrorIdOf(second.file)).not.toBe(mirrorId);
  await openAndClose(first.file);
  await compactMirror({ file: first.file, kinds, openedAt: someTime });
  expect(mirrorIdOf(first.file)).toBe(mirrorId);
});

it("a restored mirror has the id of its backup, and makes the same backup again", async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  const { manifest, rootHash } = await rig.create("a.zip");
  expect(manifest.mirrorId).toBe(mirrorIdOf(rig.file));
  const mirror = rig.path("restored.sqlite");
  await rig.restore("a.zip", "restored.sqlite");
  await openAndClose(mirror);
  expect(mirrorIdOf(mirror)).toBe(manifest.mirrorId);
  expect(await rig.create("b.zip", { mirror })).toMatchObject({ rootHash });
});

it("backups of two mirrors of one account in one folder are listed and pruned separately", async () => {
  await using old = await startLaptop("0ld");
  await using young = await startLaptop("y0ung");
  const folder = old.path("backups");
  await mkdir(folder);
  for (const day of ["01", "02"]) {
    syncAt(old, `2026-01-${day}T00:00:00.000Z`);
    await old.create("backups");
  }
  // In the same second as the other mirror's last backup.
  syncAt(young, "2026-01-02T00:00:00.000Z");
  await young.create("", { to: folder });
  const listed = await list(folder);
  expect(listed.map((backup) => backup.isSound && [backup.manifest.mirrorId, backup.changes])).toEqual([
    ["0ld", null],
    ["0ld", {}],
    ["y0ung", null],
  ]);
  expect(formatList(listed, basename).match(/mirror \w+$/gm)).toEqual([
    "mirror 0ld",
    "mirror 0ld",
    "mirror y0ung",
  ]);

  const again = await backUp({
    ...{ mirror: young.file, account: "ada", to: folder, keep: { last: 1 } },
    sync: async () => syncAt(young, "2026-01-03T00:00:00.000Z"),
  });
  expect(again.pruned?.remove.map(({ file }) => basename(file))).toEqual([
    "armoire-ada-2026-01-02T000000Z_02.zip",
  ]);
  const pruned = await pruneBackups({ folder, keep: { last: 1 }, isPreview: false });
  expect(pruned.remove.map(({ file }) => basename(file))).toEqual(["armoire-ada-2026-01-01T000000Z.zip"]);
  expect((await readdir(folder)).sort()).toEqual([
    "armoire-ada-2026-01-02T000000Z.zip",
    "armoire-ada-2026-01-03T000000Z.zip",
  ]);
});
