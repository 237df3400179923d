/** A kill at any moment while a backup is made or restored leaves the old or the new state, and never a part. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { unpackBackup } from "../../src/archive/restore.ts";
import { verifyBackup } from "../../src/archive/verify.ts";
import { lockMirror } from "../../src/mirror/file/connection.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { crawl, problemsOf, someTime } from "../mirror/support/mirror-rig.ts";
import { canonicalDump } from "../support/canonical-dump.ts";
import { tries } from "../support/thorough.ts";
import { accountWorld } from "./support/account-world.ts";
import { type BackupRig, startBackupRig } from "./support/backup-rig.ts";

const program = join(import.meta.dirname, "support/backing-up-process.ts");
const millis = fc.integer({ min: 0, max: 60 });

async function startCrawled(): Promise<BackupRig> {
  const rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  crawl(rig.mirror, accountWorld({ bras: { "1": "grey", "3": "new" } }), { approve: true });
  await rig.create("a.zip");
  return rig;
}

/** Kills the process `afterMillis` after it has finished its work once. */
async function killDuring(rig: BackupRig, work: string, afterMillis: number): Promise<void> {
  const child = spawn(process.execPath, [program, work, rig.file, rig.path("a.zip")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  await once(child.stdout, "data");
  await pause(afterMillis);
  child.kill("SIGKILL");
  await exit;
}

it("a kill during a backup leaves a whole file, and the next backup removes temporary files", async () => {
  await using rig = await startCrawled();
  await fc.assert(
    fc.asyncProperty(millis, async (after) => {
      await killDuring(rig, "create", after);
      const { problems, manifest } = await verifyBackup({ file: rig.path("a.zip") });
      expect(problems).toEqual([]);
      expect(["even", "odd"]).toContain(manifest?.account);
      await rig.create("b.zip", { replace: true });
      expect(readdirSync(rig.folder).filter((name) => name.includes("partial"))).toEqual([]);
    }),
    { numRuns: tries(3, 50) },
  );
});

it("a kill during a restore leaves no mirror or a whole one, and the restore can be repeated", async () => {
  await using rig = await startCrawled();
  const restored = rig.path("a.zip.sqlite");
  await fc.assert(
    fc.asyncProperty(millis, async (after) => {
      await killDuring(rig, "restore", after);
      if (!existsSync(restored)) await rig.restore("a.zip", "a.zip.sqlite");
      const mirror = openMirrorReader(restored);
      try {
        expect(problemsOf(mirror)).toEqual([]);
        expect(canonicalDump(mirror)).toEqual(canonicalDump(rig.mirror));
      } finally {
        mirror.close();
      }
      await removeRestored(rig);
    }),
    { numRuns: tries(3, 50) },
  );
});

it("a kill during unpacking leaves no folder or a whole one, and unpacking can be repeated", async () => {
  await using rig = await startCrawled();
  const folder = rig.path("a.zip.files");
  await fc.assert(
    fc.asyncProperty(millis, async (after) => {
      await killDuring(rig, "unpack", after);
      if (!existsSync(folder)) await unpackBackup({ file: rig.path("a.zip"), folder });
      const { entries } = await verifyBackup({ file: rig.path("a.zip") });
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      expect(files.length).toBe(entries + 1);
      expect(readdirSync(rig.folder).filter((name) => name.includes("partial"))).toEqual([]);
      await rm(folder, { recursive: true });
    }),
    { numRuns: tries(3, 50) },
  );
});

it.each(["", "-wal"])(
  "a restore over an existing mirror%s is refused, and the mirror is unchanged",
  async (suffix) => {
    await using rig = await startCrawled();
    await writeFile(rig.path(`old.sqlite${suffix}`), "mine");
    await expect(rig.restore("a.zip", "old.sqlite")).rejects.toMatchObject({ code: "exists" });
    expect(await readFile(rig.path(`old.sqlite${suffix}`), "utf8")).toBe("mine");
    expect(readdirSync(rig.folder).filter((name) => name.startsWith("old"))).toEqual([`old.sqlite${suffix}`]);
  },
);

it("a restore to a locked place is refused, and names the process that holds the lock", async () => {
  await using rig = await startCrawled();
  const lock = lockMirror(rig.path("new.sqlite"), someTime);
  try {
    const restored = rig.restore("a.zip", "new.sqlite");
    await expect(restored).rejects.toMatchObject({
      code: "locked",
      message: expect.stringContaining(String(process.pid)),
    });
  } finally {
    lock.release();
  }
  expect(existsSync(rig.path("new.sqlite"))).toBe(false);
});

it("unpacking needs a new or empty folder", async () => {
  await using rig = await startCrawled();
  const file = rig.path("a.zip");
  await mkdir(rig.path("taken"));
  await writeFile(rig.path("taken/mine"), "mine");
  await writeFile(rig.path("file"), "mine");
  for (const name of ["taken", "file"])
    await expect(unpackBackup({ file, folder: rig.path(name) })).rejects.toMatchObject({ code: "exists" });
  expect(readdirSync(rig.path("taken"))).toEqual(["mine"]);
  await mkdir(rig.path("empty"));
  await unpackBackup({ file, folder: rig.path("empty") });
  expect(readdirSync(rig.path("empty"))).toContain("README.txt");
});

async function removeRestored(rig: BackupRig): Promise<void> {
  for (const name of readdirSync(rig.folder).filter((name) => name.startsWith("a.zip.")))
    await rm(rig.path(name), { force: true });
}
