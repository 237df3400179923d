/** `mirror compact`: smaller, and the same in everything else, whatever ends it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import { kinds } from "../../jobs/kinds.ts";
import { type CompactProgress, compactMirror } from "../../src/mirror/compact-mirror.ts";
import { type MirrorReader, type MirrorWriter, openMirrorReader } from "../../src/mirror/mirror.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { type CanonicalDump, canonicalDump } from "../support/canonical-dump.ts";
import { currentBodies } from "../support/current-bodies.ts";
import { startChild } from "./children.ts";
import { makeEarlierVersion } from "./earlier-version.ts";
import { type MirrorRig, problemsOf, someTime, startMirrorRig, walk } from "./mirror-rig.ts";
import { worldOfTruth } from "./world.ts";

let rig: MirrorRig;
let mirror: MirrorWriter;
/** Of the walked mirror, before anything was compressed. */
let dump: CanonicalDump;
let bodies: Map<string, string>;
beforeEach(async () => {
  await using sandbox = await startSandbox({ brands: 40, models: 120, sizes: 900 });
  rig = await startMirrorRig(sandbox.url);
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
  walk(mirror, worldOfTruth(sandbox.truth()));
  dump = canonicalDump(mirror);
  bodies = currentBodies(mirror);
});

const compact = (more: { signal?: AbortSignal; onProgress?: (progress: CompactProgress) => void } = {}) =>
  compactMirror({ file: rig.file, kinds, openedAt: someTime, ...more });

function expectTheSame(): void {
  expect(rig.read(canonicalDump)).toEqual(dump);
  expect(rig.read(currentBodies)).toEqual(bodies);
  expect(rig.read(problemsOf)).toEqual([]);
}

const countStored = (codec: string): number =>
  rig.read(
    ({ db }) =>
      db.prepare<[string], number>("select count(*) from _content where codec = ?").pluck().get(codec) ?? 0,
  );

describe("a mirror that is compacted", () => {
  it("is smaller by what it says, tells how far it is, and says the same as before", async () => {
    mirror.close();
    const told: CompactProgress[] = [];
    const report = await compact({ onProgress: (progress) => told.push(progress) });
    expect(report).toMatchObject({ mirror: rig.file, bodies: { count: bodies.size } });
    expect(report.bytesAfter).toBe(statSync(rig.file).size);
    expect(report.bytesAfter).toBeLessThan(report.bytesBefore * 0.7);
    expect(report.bodies.storedBytes).toBeLessThan(report.bodies.bytes / 3);
    expect(told.slice(-2)).toEqual([
      { step: "compress", bodies: bodies.size, of: bodies.size },
      { step: "vacuum" },
    ]);
    expectTheSame();
  });

  it("stays as it is when it is compacted again", async () => {
    mirror.close();
    const { bytesAfter, bodies: stored } = await compact();
    expect(await compact()).toMatchObject({ bytesBefore: bytesAfter, bytesAfter, bodies: stored });
  });

  it("gives the same rows when they are rebuilt", async () => {
    mirror.close();
    await compact();
    mirror = await rig.write();
    mirror.rebuild();
    expectTheSame();
  });

  it("is exported as the same bytes", async () => {
    mirror.close();
    const exported = async (name: string) => {
      const out = join(rig.folder, name);
      const formats = ["csv", "json"] as const;
      await exportMirror({ file: rig.file, out, formats, tables: [], raw: false, toolVersion: "0" });
      return readdirSync(out).map((file) => [file, readFileSync(join(out, file), "utf8")]);
    };
    const before = await exported("before");
    await compact();
    expect(await exported("after")).toEqual(before);
  });

  it("can be read meanwhile, by who began before and by who begins then", async () => {
    mirror.close();
    const early = openMirrorReader(rig.file);
    onTestFinished(early.close);
    early.db.exec("begin");
    expect(currentBodies(early)).toEqual(bodies);
    await compact({ onProgress: () => expect(rig.read(currentBodies)).toEqual(bodies) });
    expect(currentBodies(early)).toEqual(bodies);
    expectTheSame();
  });

  it("gets a better dictionary than the one that was made when little was known", async () => {
    const dictionaries = () =>
      rig.read(({ db }) => db.prepare("select id, kind from _dictionary where kind = 'size'").raw().all());
    const useless = Buffer.from("nothing that any of them has");
    mirror.db
      .prepare("insert into _dictionary (id, kind, sha256, body) values (1, 'size', zeroblob(32), ?)")
      .run(useless);
    while (mirror.compressSome() > 0);
    mirror.close();
    expect(dictionaries()).toEqual([[1, "size"]]);
    await compact();
    expect(dictionaries()).toEqual([[expect.any(Number), "size"]]);
    expect(dictionaries()).not.toEqual([[1, "size"]]);
    expectTheSame();
  });
});

describe("compacting that is ended", () => {
  it("by its signal keeps what it has done, and goes on the next time", async () => {
    mirror.close();
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    await expect(compact({ signal: controller.signal, onProgress })).rejects.toThrow("abort");
    expect(countStored("deflate")).toBeGreaterThan(0);
    expect(countStored("identity")).toBeGreaterThan(0);
    expectTheSame();
    mirror = await rig.write();
    while (mirror.compressSome() > 0);
    expect(countStored("identity")).toBeLessThan(5);
    expectTheSame();
  });

  it.each(["in the midst of a batch", "between two batches", "before the file is written anew"])(
    "by kill -9 %s loses nothing",
    async (when) => {
      mirror.close();
      await using child = startChild("compacting-process.ts", rig.file, when);
      expect(await child.readLine()).toBeNull();
      expect(countStored("deflate") > 0).toBe(when !== "in the midst of a batch");
      expectTheSame();
      await compact();
      expect(countStored("identity")).toBeLessThan(5);
      expectTheSame();
    },
  );

  it("by kill -9 while the file is written anew loses nothing", async () => {
    mirror.close();
    await using child = startChild("compacting-process.ts", rig.file, "never");
    expect(await child.readLine()).toBe("vacuum");
    await child.kill();
    expectTheSame();
  });
});

it("a mirror of the first versions, whose bodies are all as they came, is read, compacted, and says the same", async () => {
  const file = join(rig.folder, "earlier.sqlite");
  await makeEarlierVersion(file, rig.file, ["0001-initial", "0002-absence"]);
  const read = <Result>(reading: (reader: MirrorReader) => Result): Result => {
    const reader = openMirrorReader(file);
    try {
      return reading(reader);
    } finally {
      reader.close();
    }
  };
  expect(read(problemsOf)).toEqual([]);
  expect(read(currentBodies)).toEqual(bodies);
  const report = await compactMirror({ file, kinds, openedAt: someTime });
  expect(report.bodies.storedBytes).toBeLessThan(report.bodies.bytes / 3);
  expect(read(problemsOf)).toEqual([]);
  expect(read(canonicalDump)).toEqual(dump);
  expect(read(currentBodies)).toEqual(bodies);
});
