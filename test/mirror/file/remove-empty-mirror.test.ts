import { existsSync } from "node:fs";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { removeEmptyMirror } from "../../../src/mirror/file/create-mirror.ts";
import { crawl, type MirrorRig, someTime, startMirrorRig } from "../support/mirror-rig.ts";
import { root, worldOf } from "../support/world.ts";

let rig: MirrorRig;
beforeEach(async () => {
  rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
});

it("an empty mirror is removed with its lock and folder", async () => {
  (await rig.write()).close();
  removeEmptyMirror(rig.file, someTime);
  expect(existsSync(rig.folder)).toBe(false);
});

it("an empty mirror that another process writes is not removed", async () => {
  const mirror = await rig.write();
  removeEmptyMirror(rig.file, someTime);
  await expect(rig.write()).rejects.toMatchObject({ code: "locked" });
  crawl(mirror, worldOf({ "": root({}) }));
  expect(rig.read(({ db }) => db.prepare("select count(*) from _revision").pluck().get())).toBe(1);
});

it("a mirror that another process has filled is not removed", async () => {
  const mirror = await rig.write();
  crawl(mirror, worldOf({ "": root({}) }));
  mirror.close();
  removeEmptyMirror(rig.file, someTime);
  expect(existsSync(rig.file)).toBe(true);
});
