/** What others see of a mirror while it is written. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { checkMirror } from "../../src/mirror/check/check.ts";
import type { ResourceResult } from "../../src/mirror/ingest.ts";
import { type MirrorReader, openMirrorReader, readMirror } from "../../src/mirror/reader.ts";
import { type CanonicalDump, canonicalDump } from "../support/canonical-dump.ts";
import { beginRun, type MirrorRig, startMirrorRig, walk } from "./support/mirror-rig.ts";
import { answerFrom, entity, page, root, urlOf, worldOf } from "./support/world.ts";

let rig: MirrorRig;
beforeEach(async () => {
  rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
});

const paths = ["a/", "b/", "c/"];
const world = worldOf({
  "/": root(),
  "brands/": page(paths),
  ...Object.fromEntries(paths.map((path) => [path, entity({ name: path })])),
});

it("a reader sees a batch whole or not at all, and is not kept waiting", async () => {
  const mirror = await rig.write();
  walk(mirror, world, { maxBatches: 2 });
  const reader = openMirrorReader(rig.file);
  onTestFinished(() => reader.close());
  const before = canonicalDump(reader);
  const idOf = mirror.db.prepare<[string], number>("select id from _resource where url = ?").pluck();
  const seenMeanwhile: CanonicalDump[] = [];
  const results = paths.map((path): ResourceResult => {
    const url = urlOf(path);
    const answer = answerFrom(world, { id: idOf.get(url) ?? 0, url, etag: null });
    return {
      ...answer,
      // Looked at in the middle of the transaction.
      get resourceId() {
        seenMeanwhile.push(canonicalDump(reader));
        expect(checkMirror(reader, kinds).problems).toEqual([]);
        return answer.resourceId;
      },
    };
  });
  mirror.ingest(results, beginRun(mirror));
  expect(seenMeanwhile.length).toBeGreaterThanOrEqual(paths.length);
  for (const seen of seenMeanwhile) expect(seen).toEqual(before);
  expect(canonicalDump(reader)).toEqual(canonicalDump(mirror));
  expect(canonicalDump(reader)).not.toEqual(before);
});

it("a reader that reads for long keeps its state while batches are written", async () => {
  const mirror = await rig.write();
  walk(mirror, world, { maxBatches: 2 });
  const reader = openMirrorReader(rig.file);
  onTestFinished(() => reader.close());
  reader.db.exec("begin");
  const before = canonicalDump(reader);
  walk(mirror, world);
  expect(canonicalDump(reader)).toEqual(before);
  reader.db.exec("commit");
  expect(canonicalDump(reader)).toEqual(canonicalDump(mirror));
});

it("a reader cannot write", async () => {
  walk(await rig.write(), world);
  rig.read((reader) => {
    expect(() => reader.db.exec("delete from _resource")).toThrow(/readonly/);
  });
});

it("a mirror is read while nobody has it open for writing, and stays as it was", async () => {
  const mirror = await rig.write();
  walk(mirror, world);
  const before = canonicalDump(mirror);
  mirror.close();
  const readers = [openMirrorReader(rig.file), openMirrorReader(rig.file)];
  for (const reader of readers) expect(canonicalDump(reader)).toEqual(before);
  for (const reader of readers) reader.close();
});

describe("damage that shows only while a mirror is read", () => {
  const damage = () => {
    throw Object.assign(new Error("database disk image is malformed"), { code: "SQLITE_CORRUPT" });
  };

  it.each([
    ["at once", damage],
    ["in a promise", async () => damage()],
  ])("is told as damage of the file, which is closed: %s", async (_when, use) => {
    await rig.write();
    let opened: MirrorReader | undefined;
    const reading = async () =>
      await readMirror(rig.file, (mirror) => {
        opened = mirror;
        return use();
      });
    await expect(reading()).rejects.toMatchObject({ name: "MirrorError", code: "damaged", file: rig.file });
    expect(opened?.db.open).toBe(false);
  });
});
