/** `backUp`: each step that fails, and its effect on the other steps. */
import { chmod, readdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { type BackUpRequest, backUp } from "../../src/archive/back-up.ts";
import { crawl } from "../mirror/support/mirror-rig.ts";
import { expectUnreadable } from "../support/canary.ts";
import { withoutPrivileges } from "../support/without-privileges.ts";
import { type AccountWorld, accountWorld } from "./support/account-world.ts";
import { type BackupRig, startBackupRig, startRigWithBackupFolder } from "./support/backup-rig.ts";
import { withCorruptingDisk } from "./support/failing-calls.ts";

/** Every run gets another end time. */
let minutes = 10;
function syncOnce(rig: BackupRig, user: AccountWorld = {}): string {
  const { runId } = crawl(rig.mirror, accountWorld(user));
  const endedAt = `2026-01-15T12:${minutes++}:00.000Z`;
  rig.mirror.db.prepare("update _run set ended_at = ? where id = ?").run(endedAt, runId);
  return "synced";
}

const run = (rig: BackupRig, more: Partial<BackUpRequest<string>> = {}) =>
  backUp({
    ...{ mirror: rig.file, account: "ada", to: rig.path("backups") },
    sync: async () => syncOnce(rig),
    ...more,
  });

const syncError = new Error("the sync failed");
const failing = async () => {
  throw syncError;
};

it("backUp syncs, makes a backup, and prunes old ones only with a retention policy", async () => {
  await using rig = await startRigWithBackupFolder();
  await run(rig);
  expect(await run(rig)).toMatchObject({
    synced: { report: "synced" },
    created: { isNew: true },
    pruned: null,
  });
  expect(await run(rig, { keep: { last: 1 } })).toMatchObject({ pruned: { remove: [{}, {}] } });
  expect(await readdir(rig.path("backups"))).toHaveLength(1);
});

it("backUp prunes no backups of another user whose account has the same name", async () => {
  await using rig = await startRigWithBackupFolder();
  await using otherUser = await startBackupRig({ userId: "8", username: "eve" });
  for (let n = 0; n < 2; n++) {
    syncOnce(otherUser, { username: "eve", userId: 8 });
    await otherUser.create("", { to: rig.path("backups") });
  }
  await run(rig);
  expect(await run(rig, { keep: { last: 1 } })).toMatchObject({ pruned: { remove: [{}] } });
  expect(await readdir(rig.path("backups"))).toHaveLength(3);
});

it("backUp backs up the mirror as it is after a failed sync, and prunes nothing", async () => {
  await using rig = await startRigWithBackupFolder();
  await run(rig);
  syncOnce(rig);
  const backedUp = await run(rig, { sync: failing, keep: { last: 1 } });
  expect(backedUp).toMatchObject({ synced: { error: syncError }, created: { isNew: true }, pruned: null });
  expect(await run(rig, { sync: failing })).toMatchObject({ created: { isNew: false } });
  expect(await readdir(rig.path("backups"))).toHaveLength(2);
});

it("backUp throws the error of the sync if there is nothing to back up", async () => {
  await using rig = await startRigWithBackupFolder();
  await expect(run(rig, { sync: failing })).rejects.toBe(syncError);
  await expect(run(rig, { sync: failing, mirror: rig.path("none.sqlite") })).rejects.toBe(syncError);
  await expect(run(rig, { sync: async () => "nothing came" })).rejects.toMatchObject({
    code: "nothing-held",
  });
});

it("backUp fails and prunes nothing if the written file reads back differently", async () => {
  await using rig = await startRigWithBackupFolder();
  await run(rig);
  const damagedBackup = withCorruptingDisk(() => run(rig, { keep: { last: 1 } }));
  await expect(damagedBackup).rejects.toMatchObject({
    code: "damaged",
    message: expect.stringContaining("the file on disk differs from what was written"),
  });
  const backups = await readdir(rig.path("backups"));
  expect(backups).toHaveLength(1);
  for (const name of backups) expectUnreadable(rig.path(`backups/${name}`));
});

it("backUp makes no backup if it is interrupted during the sync", async () => {
  await using rig = await startRigWithBackupFolder();
  const interruption = new AbortController();
  const sync = async () => {
    interruption.abort(syncError);
    return syncOnce(rig);
  };
  await expect(run(rig, { sync, signal: interruption.signal })).rejects.toBe(syncError);
  expect(await readdir(rig.path("backups"))).toEqual([]);
});

describe("destination", () => {
  const unexpectedSync = async () => {
    throw new Error("a request was sent");
  };

  it("an unsuitable destination is refused before the first request", async () => {
    await using rig = await startRigWithBackupFolder();
    await writeFile(rig.path("backups/a.zip"), "");
    const to = (name: string) => run(rig, { to: rig.path(name), sync: unexpectedSync });
    await expect(to("nowhere")).rejects.toMatchObject({ code: "not-found" });
    await expect(to("backups/a.zip")).rejects.toMatchObject({ code: "wrong-place" });
    await expect(to("backups/b.zip")).rejects.toMatchObject({ code: "not-found" });
  });

  it("a folder without write permission is refused", async () => {
    await using rig = await startRigWithBackupFolder();
    for (const above of [dirname(rig.folder), rig.folder]) await chmod(above, 0o755);
    await chmod(rig.path("backups"), 0o555);
    await withoutPrivileges(async () => {
      await expect(run(rig, { sync: unexpectedSync })).rejects.toMatchObject({
        code: "write-failed",
        message: expect.stringMatching(/^Cannot write to .*open/),
      });
    });
  });
});
