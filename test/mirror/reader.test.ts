/** Reading a mirror while it is written. */
import { readFileSync, writeFileSync } from "node:fs";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { checkMirror } from "../../src/mirror/check/check.ts";
import type { ResourceResult } from "../../src/mirror/ingest.ts";
import { type MirrorReader, openMirrorReader, readMirror } from "../../src/mirror/reader.ts";
import { type CanonicalDump, canonicalDump } from "../support/canonical-dump.ts";
import { beginRun, crawl, type MirrorRig, startMirrorRig } from "./support/mirror-rig.ts";
import { entity, page, resultFrom, root, urlOf, worldOf } from "./support/world.ts";

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

it("a reader sees all of a batch or nothing, without waiting", async () => {
  const mirror = await rig.write();
  crawl(mirror, world, { maxBatches: 2 });
  const reader = openMirrorReader(rig.file);
  onTestFinished(() => reader.close());
  const before = canonicalDump(reader);
  const idOf = mirror.db.prepare<[string], number>("select id from _resource where url = ?").pluck();
  const seenDuring: CanonicalDump[] = [];
  const results = paths.map((path): ResourceResult => {
    const url = urlOf(path);
    const response = resultFrom(world, { id: idOf.get(url) ?? 0, url, etag: null });
    return {
      ...response,
      // Read during the transaction.
      get resourceId() {
        seenDuring.push(canonicalDump(reader));
        expect(checkMirror(reader, kinds).problems).toEqual([]);
        return response.resourceId;
      },
    };
  });
  mirror.ingest(results, beginRun(mirror));
  expect(seenDuring.length).toBeGreaterThanOrEqual(paths.length);
  for (const seen of seenDuring) expect(seen).toEqual(before);
  expect(canonicalDump(reader)).toEqual(canonicalDump(mirror));
  expect(canonicalDump(reader)).not.toEqual(before);
});

it("a reader in a transaction sees the same state while batches are written", async () => {
  const mirror = await rig.write();
  crawl(mirror, world, { maxBatches: 2 });
  const reader = openMirrorReader(rig.file);
  onTestFinished(() => reader.close());
  reader.db.exec("begin");
  const before = canonicalDump(reader);
  crawl(mirror, world);
  expect(canonicalDump(reader)).toEqual(before);
  reader.db.exec("commit");
  expect(canonicalDump(reader)).toEqual(canonicalDump(mirror));
});

it("a reader cannot write", async () => {
  crawl(await rig.write(), world);
  rig.read((reader) => {
    expect(() => reader.db.exec("delete from _resource")).toThrow(/readonly/);
  });
});

it("several readers can open a mirror that no process writes", async () => {
  const mirror = await rig.write();
  crawl(mirror, world);
  const before = canonicalDump(mirror);
  mirror.close();
  const readers = [openMirrorReader(rig.file), openMirrorReader(rig.file)];
  for (const reader of readers) expect(canonicalDump(reader)).toEqual(before);
  for (const reader of readers) reader.close();
});

describe("damage that shows during reading", () => {
  const damage = () => {
    writeFileSync(rig.file, readFileSync(rig.file).fill(0xa5, 4096));
    throw Object.assign(new Error("database disk image is malformed"), { code: "SQLITE_CORRUPT" });
  };

  it.each([
    ["a synchronous function", damage],
    ["a promise", async () => damage()],
  ])("an SQLite error in %s is reported as damage of the file, which is closed", async (_where, use) => {
    await rig.write();
    const sound = readFileSync(rig.file);
    // The search for secrets after the test reads it.
    onTestFinished(() => writeFileSync(rig.file, sound));
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
