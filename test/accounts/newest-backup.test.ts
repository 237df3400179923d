import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { noteCheckedBackup, noteCreatedBackup, readNewestBackup } from "../../src/accounts/newest-backup.ts";
import { startAccountRig } from "./support/account-rig.ts";

const hashOf = (digit: string) => digit.repeat(64);

it("the newest backup keeps its first time, and a verification of that backup alone is noted", async () => {
  await using rig = await startAccountRig();
  const account = await rig.account("ada");
  const times = [1, 2, 3, 4].map((day) => `2026-11-0${day}T00:00:00.000Z`);
  expect(readNewestBackup(account)).toBeNull();
  const first = { file: "/backups/a.zip", rootHash: hashOf("a") };
  await noteCreatedBackup(account, first, times[0] ?? "");
  await noteCreatedBackup(account, first, times[1] ?? "");
  expect(readNewestBackup(account)).toEqual({
    ...first,
    createdAt: times[0],
    verifiedAt: times[1],
    damagedAt: null,
  });
  expect(statSync(account.newestBackupFile).mode & 0o777).toBe(0o600);
  await noteCheckedBackup(rig.dataDir, { file: "/other.zip", rootHash: hashOf("b") }, times[2] ?? "");
  expect(readNewestBackup(account)).toMatchObject({ verifiedAt: times[1] });
  // A copy, while the original is there; then the same backup, moved to another place.
  const original = `${rig.dataDir}/a.zip`;
  writeFileSync(original, "");
  await noteCreatedBackup(account, { ...first, file: original }, times[1] ?? "");
  await noteCheckedBackup(rig.dataDir, { ...first, file: "/copy/a.zip" }, times[2] ?? "");
  expect(readNewestBackup(account)).toMatchObject({ file: original, verifiedAt: times[1] });
  await noteCheckedBackup(rig.dataDir, { file: "/copy/a.zip", rootHash: null }, times[2] ?? "");
  expect(readNewestBackup(account)).toMatchObject({ damagedAt: null });
  await noteCheckedBackup(rig.dataDir, { file: original, rootHash: null }, times[2] ?? "");
  expect(readNewestBackup(account)).toMatchObject({ verifiedAt: times[1], damagedAt: times[2] });
  await noteCheckedBackup(rig.dataDir, { ...first, file: original }, times[2] ?? "");
  expect(readNewestBackup(account)).toMatchObject({ verifiedAt: times[2], damagedAt: null });
  rmSync(original);
  await noteCheckedBackup(rig.dataDir, { ...first, file: "/safe/a.zip" }, times[2] ?? "");
  expect(readNewestBackup(account)).toMatchObject({ file: "/safe/a.zip", verifiedAt: times[2] });
  await noteCreatedBackup(account, { file: "/backups/b.zip", rootHash: hashOf("b") }, times[3] ?? "");
  expect(readNewestBackup(account)).toMatchObject({ createdAt: times[3], verifiedAt: times[3] });
});

it("a description that is damaged counts as none, and a folder without accounts is no error", async () => {
  await using rig = await startAccountRig();
  const account = await rig.account("ada");
  for (const text of ["", "{", "{}", '{"file":1}']) {
    rmSync(account.newestBackupFile, { force: true });
    writeFileSync(account.newestBackupFile, text, { mode: 0o600 });
    expect(readNewestBackup(account)).toBeNull();
  }
  const empty = `${rig.dataDir}/empty`;
  mkdirSync(empty);
  await noteCheckedBackup(empty, { file: "/a.zip", rootHash: hashOf("a") }, "2026-11-01T00:00:00.000Z");
});

it("two processes may note a backup at once, and a description that others may read counts as none", async () => {
  await using rig = await startAccountRig();
  const account = await rig.account("ada");
  const time = "2026-11-01T00:00:00.000Z";
  await Promise.all(
    ["a", "b", "c"].map((name) =>
      noteCreatedBackup(account, { file: `/${name}.zip`, rootHash: hashOf(name) }, time),
    ),
  );
  expect(readNewestBackup(account)?.createdAt).toBe(time);
  chmodSync(account.newestBackupFile, 0o644);
  expect(readNewestBackup(account)).toBeNull();
});
