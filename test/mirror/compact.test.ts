/** Compaction makes a mirror smaller and changes nothing else, even if it is interrupted. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import { kinds } from "../../jobs/kinds.ts";
import { type CompactProgress, compactMirror, previewRetention } from "../../src/mirror/compact.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { type CanonicalDump, canonicalDump } from "../support/canonical-dump.ts";
import { currentBodies } from "../support/current-bodies.ts";
import { startChild } from "./support/children.ts";
import { crawl, type MirrorRig, problemsOf, someTime, startMirrorRig } from "./support/mirror-rig.ts";
import { publicState } from "./support/public-state.ts";
import { removeCompression } from "./support/uncompressed-bodies.ts";
import { entity, page, root, sha256Of, worldOf, worldOfTruth } from "./support/world.ts";

interface Template {
  readonly url: string;
  readonly file: Buffer;
  readonly dump: CanonicalDump;
  readonly bodies: Map<string, string>;
  /** The public state at the last run. */
  readonly state: ReturnType<typeof publicState>;
}

/** Mirrors to copy: making one takes longer than most tests. */
let ofOneRun: Template;
/** In the second run, every number of bras differs. */
let ofTwoRuns: Template;
beforeAll(async () => {
  await using sandbox = await startSandbox({ brands: 40, models: 120, sizes: 400 });
  await using made = await startMirrorRig(sandbox.url);
  let writer = await made.write();
  const template = (): Template => {
    const { db } = writer;
    const content = { dump: canonicalDump(writer), bodies: currentBodies(writer), state: publicState(db) };
    writer.close();
    return { url: sandbox.url, file: readFileSync(made.file), ...content };
  };
  const world = worldOfTruth(sandbox.truth());
  crawl(writer, world);
  // As after a run that was interrupted early. The writer caches dictionaries.
  removeCompression(writer.db);
  ofOneRun = template();
  writer = await made.write();
  const changed = [...world].map(
    ([url, body]) => [url, body.replaceAll(/"bra_count":/g, '"bra_count":1')] as const,
  );
  crawl(writer, new Map(changed));
  ofTwoRuns = template();
});

let rig: MirrorRig;
let dump: CanonicalDump;
let bodies: Map<string, string>;
async function copyTemplate(template: Template): Promise<void> {
  rig = await startMirrorRig(template.url);
  onTestFinished(() => rig[Symbol.asyncDispose]());
  writeFileSync(rig.file, template.file);
  ({ dump, bodies } = template);
}
beforeEach(() => copyTemplate(ofOneRun));

const compact = (more: { signal?: AbortSignal; onProgress?: (progress: CompactProgress) => void } = {}) =>
  compactMirror({ file: rig.file, kinds, openedAt: someTime, ...more });

/**
 * Brands with a seven-digit number, which begins with 1 to 4 in the first run and 5 to 8 in the second; nothing else
 * changes.
 */
function worldOfBrands(run: "first" | "second") {
  const paths = Array.from({ length: 400 }, (_, n) => `brand/${n}/`);
  const brandOf = (path: string, n: number) => {
    const number = (run === "first" ? 1_000_000 : 5_000_000) + n * 7919;
    const own = [1, 2, 3].map((part) => sha256Of(`${path}${part}`)).join(" ");
    return [path, entity({ name: path, note: `number ${number} ${own}` }, { models: null })] as const;
  };
  return worldOf({ "/": root(), "brands/": page(paths), ...Object.fromEntries(paths.map(brandOf)) });
}

function expectSameContent(): void {
  expect(rig.read(canonicalDump)).toEqual(dump);
  expect(rig.read(currentBodies)).toEqual(bodies);
  expect(rig.read(problemsOf)).toEqual([]);
}

const countStored = (codec: string): number =>
  rig.read(
    ({ db }) =>
      db.prepare<[string], number>("select count(*) from _content where codec = ?").pluck().get(codec) ?? 0,
  );

describe("a compacted mirror", () => {
  it("compaction makes a mirror smaller, reports its progress and changes no content", async () => {
    const reported: CompactProgress[] = [];
    const report = await compact({ onProgress: (progress) => reported.push(progress) });
    expect(report).toMatchObject({ mirror: rig.file, bodies: { count: bodies.size } });
    expect(report.bytesAfter).toBe(statSync(rig.file).size);
    expect(report.bytesAfter).toBeLessThan(report.bytesBefore * 0.7);
    expect(report.bodies.storedBytes).toBeLessThan(report.bodies.bytes / 3);
    expect(reported.slice(-2)).toEqual([
      { step: "compress", bodies: bodies.size, of: bodies.size },
      { step: "vacuum" },
    ]);
    expectSameContent();
  });

  it("compaction improves bodies that were compressed at ingest, and reports its progress", async () => {
    await using otherRig = await startMirrorRig();
    const writer = await otherRig.write();
    crawl(writer, worldOfBrands("first"), { choose: (due) => due.slice(0, 50) });
    const [before, held] = [canonicalDump(writer), currentBodies(writer)];
    const storedBytes = "select sum(length(body)) from _content";
    const bytes = Number(writer.db.prepare(storedBytes).pluck().get());
    expect(
      writer.db.prepare("select count(*) from _content where codec = 'identity'").pluck().get(),
    ).toBeLessThan(100);
    writer.close();
    const reported: CompactProgress[] = [];
    await compactMirror({
      file: otherRig.file,
      kinds,
      openedAt: someTime,
      onProgress: (progress) => reported.push(progress),
    });
    expect(reported.at(-2)).toEqual({ step: "compress", bodies: expect.any(Number), of: expect.any(Number) });
    const last = reported.at(-2);
    if (last?.step === "compress") expect(last.bodies).toBe(last.of);
    expect(otherRig.read(canonicalDump)).toEqual(before);
    expect(otherRig.read(currentBodies)).toEqual(held);
    expect(otherRig.read(({ db }) => Number(db.prepare(storedBytes).pluck().get()))).toBeLessThan(bytes);
    expect(otherRig.read(problemsOf)).toEqual([]);
  });

  it("a mirror that is being read stays large, is reported as such, and shrinks with the next compaction", async () => {
    const reader = openMirrorReader(rig.file);
    const reading = reader.db.prepare("select * from _content").iterate();
    reading.next();
    const before = statSync(rig.file).size;
    const report = await compact();
    expect([report.isStillRead, statSync(rig.file).size]).toEqual([true, before]);
    reading.return?.();
    reader.close();
    expect((await compact()).isStillRead).toBe(false);
    expect(statSync(rig.file).size).toBeLessThan(before * 0.7);
    expectSameContent();
  });

  it("compacting twice changes nothing the second time", async () => {
    const { bytesAfter, bodies: stored } = await compact();
    expect(await compact()).toMatchObject({ bytesBefore: bytesAfter, bytesAfter, bodies: stored });
  });

  it("a rebuild of a compacted mirror gives the same rows", async () => {
    await compact();
    const mirror = await rig.write();
    mirror.rebuild();
    expectSameContent();
  });

  it("exports before and after compaction are identical", async () => {
    const exported = async (name: string) => {
      const out = join(rig.folder, name);
      const formats = ["csv", "json"] as const;
      await exportMirror({ file: rig.file, out, formats, tables: [], toolVersion: "0" });
      return readdirSync(out).map((file) => [file, readFileSync(join(out, file), "utf8")]);
    };
    const before = await exported("before");
    await compact();
    expect(await exported("after")).toEqual(before);
  });

  it("earlier and new readers can read a mirror during compaction", async () => {
    const early = openMirrorReader(rig.file);
    onTestFinished(early.close);
    early.db.exec("begin");
    expect(currentBodies(early)).toEqual(bodies);
    await compact({ onProgress: () => expect(rig.read(currentBodies)).toEqual(bodies) });
    expect(currentBodies(early)).toEqual(bodies);
    expectSameContent();
  });

  it("compaction replaces an early dictionary with a better one", async () => {
    const dictionaries = () =>
      rig.read(({ db }) => db.prepare("select id, kind from _dictionary where kind = 'size'").raw().all());
    const useless = Buffer.from("no text of any body");
    const mirror = await rig.write();
    mirror.db
      .prepare("insert into _dictionary (id, kind, sha256, body) values (1, 'size', zeroblob(32), ?)")
      .run(useless);
    while (mirror.compressBatch() > 0);
    mirror.close();
    expect(dictionaries()).toEqual([[1, "size"]]);
    await compact();
    expect(dictionaries()).toEqual([[expect.any(Number), "size"]]);
    expect(dictionaries()).not.toEqual([[1, "size"]]);
    expectSameContent();
  });
});

describe("interrupted compaction", () => {
  it("aborted compaction keeps its progress and continues the next time", async () => {
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    await expect(compact({ signal: controller.signal, onProgress })).rejects.toThrow("abort");
    expect(countStored("deflate")).toBeGreaterThan(0);
    expect(countStored("identity")).toBeGreaterThan(0);
    expectSameContent();
    const mirror = await rig.write();
    while (mirror.compressBatch() > 0);
    expect(countStored("identity")).toBeLessThan(5);
    expectSameContent();
  });

  it.each(["during a batch", "between two batches", "before the vacuum"])(
    "compaction killed %s loses nothing",
    async (when) => {
      await using child = startChild("compacting-process.ts", rig.file, when);
      expect(await child.readLine()).toBeNull();
      expect(countStored("deflate") > 0).toBe(when !== "during a batch");
      expectSameContent();
      await compact();
      expect(countStored("identity")).toBeLessThan(5);
      expectSameContent();
    },
  );

  it("compaction killed during the vacuum loses nothing", async () => {
    await using child = startChild("compacting-process.ts", rig.file, "never");
    expect(await child.readLine()).toBe("vacuum");
    await child.kill();
    expectSameContent();
  });
});

describe("compaction that prunes runs", () => {
  beforeEach(() => copyTemplate(ofTwoRuns));
  const count = (table: string) =>
    rig.read(({ db }) => db.prepare<[], number>(`select count(*) from ${table}`).pluck().get());
  const stateOf = (run: number) => {
    const reader = openMirrorReader(rig.file, { kind: "run", run });
    try {
      return publicState(reader.db);
    } finally {
      reader.close();
    }
  };

  it("pruning removes exactly what the preview reports, and returns the space", async () => {
    const before = await compact();
    const preview = previewRetention({ file: rig.file, keep: { last: 1 } });
    expect(preview).toMatchObject({ keep: [{ run: 2, reasons: ["latest", "last"] }], prune: [{ run: 1 }] });
    const [revisions, contents] = [count("_revision"), count("_content")];
    const report = await compactMirror({ file: rig.file, kinds, openedAt: someTime, keep: { last: 1 } });
    expect(report.retention).toEqual(preview);
    expect(count("_revision")).toBe(Number(revisions) - preview.removed.revisions);
    expect(count("_content")).toBe(Number(contents) - preview.removed.bodies);
    expect(report.bodies.count).toBe(before.bodies.count - preview.removed.bodies);
    expect(report.bytesAfter).toBeLessThan(before.bytesAfter * 0.8);
    expectSameContent();
  });

  it("no pruned text remains in dictionaries", async () => {
    await using otherRig = await startMirrorRig();
    const writer = await otherRig.write();
    crawl(writer, worldOfBrands("first"));
    // Now the dictionary is the best one, also for the bodies of the second run.
    writer.recompressAll();
    while (writer.compressBatch() > 0);
    crawl(writer, worldOfBrands("second"));
    writer.close();
    const containsFirst = () => /number [1-4]\d{6}/.test(readFileSync(otherRig.file, "latin1"));
    expect(containsFirst()).toBe(true);
    await compactMirror({ file: otherRig.file, kinds, openedAt: someTime, keep: { last: 1 } });
    expect(containsFirst()).toBe(false);
    expect(otherRig.read(problemsOf)).toEqual([]);
  });

  it("a policy that retains all runs, or no policy, prunes nothing", async () => {
    const revisions = count("_revision");
    const { retention } = await compactMirror({
      file: rig.file,
      kinds,
      openedAt: someTime,
      keep: { last: 2 },
    });
    expect(retention).toMatchObject({ prune: [], removed: { revisions: 0, bodies: 0, bytes: 0 } });
    expect((await compact()).retention).toBeNull();
    expect(count("_revision")).toBe(revisions);
    expect(stateOf(1)).not.toEqual(stateOf(2));
  });

  it.each(["while pruning", "after pruning"])(
    "compaction killed %s has pruned a run completely or not at all",
    async (when) => {
      const first = stateOf(1);
      await using child = startChild("compacting-process.ts", rig.file, when);
      expect(await child.readLine()).toBeNull();
      expectSameContent();
      expect(stateOf(2).brand).toEqual(ofTwoRuns.state.brand);
      if (when === "after pruning") expect(() => stateOf(1)).toThrow("Run 1 was pruned");
      else expect(stateOf(1)).toEqual(first);
      await compactMirror({ file: rig.file, kinds, openedAt: someTime, keep: { last: 1 } });
      expect(countStored("identity")).toBeLessThan(5);
      expectSameContent();
    },
  );
});
