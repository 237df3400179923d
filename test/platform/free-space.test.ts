import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exportDatabase } from "../../exports/export-database.ts";
import { exportMirror } from "../../exports/export-mirror.ts";
import { exportTable } from "../../exports/export-table.ts";
import { kinds } from "../../jobs/kinds.ts";
import { compactMirror } from "../../src/mirror/compact.ts";
import { type ReadFreeBytes, requireFreeSpace } from "../../src/platform/files/free-space.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { sync } from "../../src/sync/sync.ts";
import { accountWorld } from "../archive/support/account-world.ts";
import { startBackupRig } from "../archive/support/backup-rig.ts";
import { listAll } from "../e2e/support/fixture.ts";
import { crawl, someTime } from "../mirror/support/mirror-rig.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

const mebibyte = 2 ** 20;
const withFree =
  (bytes: number): ReadFreeBytes =>
  () =>
    bytes;
const full = { code: "disk-full", kind: "failed", hint: "Make room, or use another disk." };

describe("the free space of a folder's disk", () => {
  const request = (folder: string, bytes: number) => ({ folder, bytes, purpose: "The export" });

  it("the free space of a folder's disk is compared with the needed bytes", async () => {
    await using folder = await temporaryFolder();
    const free = withFree(100 * mebibyte);
    expect(requireFreeSpace(request(folder.path, 100 * mebibyte), free)).toBe(100 * mebibyte);
    expect(() => requireFreeSpace(request(folder.path, 200 * mebibyte), free)).toThrow(
      expect.objectContaining({
        ...full,
        message: `The export needs at least 200 MiB, and the disk of ${folder.path} has 100 MiB free.`,
      }),
    );
  });

  it("the free space of a folder's disk is that of the nearest existing folder above it", async () => {
    await using folder = await temporaryFolder();
    const missing = join(folder.path, "not/there");
    expect(requireFreeSpace(request(missing, 1))).toBeGreaterThan(1);
    mkdirSync(missing, { recursive: true });
    expect(() => requireFreeSpace(request(missing, 2 ** 70))).toThrow(expect.objectContaining(full));
  });

  it("the free space of a folder's disk may be unknown, which refuses nothing", () => {
    expect(requireFreeSpace(request("/proc", 2 ** 70))).toBeNull();
    const failing = () => {
      throw new Error("no such call");
    };
    expect(requireFreeSpace(request("/", 2 ** 70), failing)).toBeNull();
  });
});

describe("a full disk is noticed before anything is written", () => {
  it("a full disk is noticed before a sync requests anything", async () => {
    await using folder = await temporaryFolder();
    await using sandbox = await startSandbox({ brands: 1, models: 1, sizes: 1 });
    const options = { file: join(folder.path, "new/m.sqlite"), baseUrl: sandbox.url };
    // A request to a closed port would be another error.
    const refused = { ...options, baseUrl: "http://127.0.0.1:9/", readFreeBytes: withFree(31 * mebibyte) };
    await expect(sync(refused)).rejects.toMatchObject(full);
    expect(await listAll(folder.path)).toEqual([]);
    const warnings: string[] = [];
    const onLowSpace = (warning: string) => void warnings.push(warning);
    await sync({ ...options, onLowSpace, readFreeBytes: withFree(255 * mebibyte) });
    await sync({ ...options, onLowSpace, readFreeBytes: withFree(256 * mebibyte) });
    expect(warnings).toEqual([`The disk of ${join(folder.path, "new")} has only 255 MiB free.`]);
  });

  it("a full disk is noticed before an export, a backup and a compaction", async () => {
    await using rig = await startBackupRig();
    crawl(rig.mirror, accountWorld());
    const readFreeBytes = withFree(mebibyte);
    const before = await listAll(rig.folder);
    await expect(rig.create("a.zip", { readFreeBytes })).rejects.toMatchObject(full);
    const out = { file: rig.file, out: join(rig.folder, "out"), toolVersion: "1", readFreeBytes };
    const exporting = exportMirror({ ...out, formats: ["csv"], tables: [] });
    await expect(exporting).rejects.toMatchObject(full);
    await expect(exportDatabase({ ...out, tables: [] })).rejects.toMatchObject(full);
    const table = { ...out, table: "bra", format: "csv" } as const;
    await expect(exportTable(table)).rejects.toMatchObject(full);
    await expect(exportTable({ ...table, out: async () => {} })).resolves.toMatchObject({ file: null });
    const { mtimeMs } = statSync(rig.file);
    rig.mirror.close();
    const compacting = compactMirror({ file: rig.file, kinds, openedAt: someTime, readFreeBytes });
    await expect(compacting).rejects.toMatchObject(full);
    expect(statSync(rig.file).mtimeMs).toBeGreaterThanOrEqual(mtimeMs);
    expect((await listAll(rig.folder)).filter((name) => !before.includes(name))).toEqual([]);
  });
});
