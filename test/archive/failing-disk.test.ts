/** A disk that fails at one step: earlier files are unchanged, no other file remains, and the error names the place. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { BackupError } from "../../src/archive/errors.ts";
import { unpackBackup } from "../../src/archive/restore.ts";
import { createSnapshot } from "../../src/archive/snapshot/create.ts";
import { ArmoireError } from "../../src/platform/errors.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { firstKill, killStride } from "../support/thorough.ts";
import { accountWorld } from "./support/account-world.ts";
import { type BackupRig, startBackupRig } from "./support/backup-rig.ts";
import { withCorruptingDisk, withFailingCall } from "./support/failing-calls.ts";
import { catalogueWorld } from "./support/linked-catalogue-rig.ts";

async function startCrawled(): Promise<BackupRig> {
  const rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  await rig.create("a.zip");
  return rig;
}

/** Repeats the work with each file-system call failing in turn. @returns the number of calls, or a little more */
async function failEach(
  work: () => Promise<unknown>,
  check: (error: unknown) => void,
  { first = 1, stride = 1 } = {},
): Promise<number> {
  for (let n = first; ; n += stride) {
    let failure: unknown = null;
    const isReached = await withFailingCall(n, async () => {
      failure = await work().then(
        () => null,
        (error: unknown) => error,
      );
    });
    if (!isReached) return n - 1;
    check(failure);
  }
}

const filesBeside = (rig: BackupRig) =>
  readdirSync(rig.folder).filter((name) => !/^catalogue\.sqlite|\.(lock|holder\.json)$/.test(name));

it("a disk error at any step of a backup leaves the earlier file, and names the destination", async () => {
  await using rig = await startCrawled();
  const before = readFileSync(rig.path("a.zip"));
  crawl(rig.mirror, accountWorld({ bras: { "1": "other" } }), { approve: true });
  const steps = await failEach(
    () => rig.create("a.zip", { replace: true }),
    (error) => {
      if (readFileSync(rig.path("a.zip")).equals(before)) {
        expect(error).toBeInstanceOf(BackupError);
        expect(error).toMatchObject({
          code: "write-failed",
          message: expect.stringContaining(rig.path("a.zip")),
        });
      }
      expect(filesBeside(rig)).toEqual(["a.zip"]);
    },
  );
  // A small backup is written in one piece.
  expect(steps).toBeGreaterThan(6);
});

it(`a disk error at any step of unpacking leaves no part of the folder (each ${killStride}., from ${firstKill})`, async () => {
  await using rig = await startCrawled();
  let unpacked = 0;
  const steps = await failEach(
    () => unpackBackup({ file: rig.path("a.zip"), folder: rig.path(`files-${unpacked}`) }),
    (error) => {
      const exists = filesBeside(rig).includes(`files-${unpacked}`);
      if (exists) unpacked++;
      else expect(error).toBeInstanceOf(BackupError);
      expect(filesBeside(rig).filter((name) => !name.startsWith("files-"))).toEqual(["a.zip"]);
    },
    { first: firstKill, stride: killStride },
  );
  expect(steps).toBeGreaterThan(60);
  // After the final rename, three calls remain: open, sync and close the parent folder.
  expect([Math.floor(3 / killStride), Math.ceil(3 / killStride)]).toContain(unpacked);
});

it("a disk error at any step of a restore leaves no part of the mirror", async () => {
  await using rig = await startCrawled();
  const steps = await failEach(
    () => rig.restore("a.zip", "restored.sqlite"),
    (error) => {
      if (filesBeside(rig).includes("restored.sqlite")) return;
      expect(error).toBeInstanceOf(ArmoireError);
      expect(filesBeside(rig)).toEqual(["a.zip"]);
    },
  );
  expect(steps).toBeGreaterThan(3);
});

it("a snapshot that reads back differently leaves the earlier file", async () => {
  await using rig = await startMirrorRig();
  crawl(await rig.write(), catalogueWorld());
  const to = join(rig.folder, "catalogue.zip");
  const create = () => createSnapshot({ mirror: rig.file, to, license: "CC0-1.0", replace: true });
  await create();
  const before = readFileSync(to);
  await expect(withCorruptingDisk(create)).rejects.toMatchObject({
    code: "damaged",
    message: expect.stringContaining("the file on disk differs from what was written"),
  });
  expect(readFileSync(to)).toEqual(before);
  expect(readdirSync(rig.folder).filter((name) => /zip|partial/.test(name))).toEqual(["catalogue.zip"]);
});
