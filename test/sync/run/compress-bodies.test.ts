/** Compression of stored bodies at the end of a run, which never fails the run. */
import { describe, expect, it } from "vitest";
import { MirrorError, type MirrorErrorCode } from "../../../src/mirror/file/errors.ts";
import { compressBodies } from "../../../src/sync/run/close-run.ts";
import type { RunMirror } from "../../../src/sync/writer/client.ts";
import { problemsOf } from "../../mirror/support/mirror-rig.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 10, models: 40, sizes: 200 };

const countUncompressed = (rig: Rig): number =>
  rig.read(
    ({ db }) =>
      db.prepare<[], number>("select count(*) from _content where codec = 'identity'").pluck().get() ?? 0,
  );

describe("during a sync", () => {
  it("a sync compresses its bodies, also when its budget ends it, with dictionaries once there are enough bodies", async () => {
    await using rig = await startRig(world);
    expect(await rig.sync({ budget: 20 })).toMatchObject({ stopped: "budget" });
    expect(countUncompressed(rig)).toBeLessThan(5);
    expect(await rig.sync()).toMatchObject({ complete: true });
    expect(countUncompressed(rig)).toBeLessThan(5);
    const kinds = rig.read(({ db }) =>
      db.prepare("select kind from _dictionary order by kind").pluck().all(),
    );
    expect(kinds).toEqual(["model", "size", "sizes"]);
    expect(rig.read(problemsOf)).toEqual([]);
  });

  it("a sync that is interrupted leaves compression to the next one", async () => {
    await using rig = await startRig(world);
    const controller = new AbortController();
    const report = await rig.sync({ signal: controller.signal, onProgress: () => controller.abort() });
    expect(report).toMatchObject({ stopped: "interrupted" });
    expect(countUncompressed(rig)).toBe(report.resources.new);
    await rig.sync({ budget: 1 });
    expect(countUncompressed(rig)).toBeLessThan(5);
  });
});

describe("after a run", () => {
  const mirrorWith = (compressBatch: () => Promise<number>) =>
    ({ writes: { compressBatch } }) as unknown as Pick<RunMirror, "writes">;
  const failWith = (code: MirrorErrorCode) =>
    mirrorWith(() => Promise.reject(new MirrorError(code, "file", "What", "Hint")));

  it("compressing after a run ends between two batches after an interruption", async () => {
    const runStop = { isInterrupted: false };
    let batches = 0;
    const mirror = mirrorWith(async () => {
      batches++;
      runStop.isInterrupted = batches === 3;
      return 512;
    });
    await compressBodies(mirror, runStop);
    expect(batches).toBe(3);
  });

  it("compressing after a run ignores missing disk space, but no other error", async () => {
    await expect(compressBodies(failWith("disk-full"), { isInterrupted: false })).resolves.toBeUndefined();
    for (const code of ["damaged", "unwritable"] as const)
      await expect(compressBodies(failWith(code), { isInterrupted: false })).rejects.toThrow("What");
  });
});
