/** The change log lists what each run changed, and its entries have ids that stay the same. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Change } from "../../../src/change/change.ts";
import { type ChangeLog, openChangeLog } from "../../../src/change/log/change-log.ts";
import { openDiff } from "../../../src/change/open-diff.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { sync } from "../../../src/sync/sync.ts";
import { crawl, someTime, startMirrorRig } from "../../mirror/support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../../mirror/support/world.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { tries } from "../../support/thorough.ts";
import { places, worldOfVersions } from "../support/changing-world.ts";
import { histories, replayHistory, type Step } from "../support/histories.ts";

const idle: Step = { edits: [], follow: [], maxBatches: 1000, again: [], rebuilds: false, prunes: 0 };
const edited = (version: number): Step => ({ ...idle, edits: [{ place: 1, version }] });

const someHistories = fc.oneof(
  { weight: 2, arbitrary: histories(6, { minSteps: 2 }) },
  { weight: 1, arbitrary: histories(6, { minSteps: 2, prunes: true }) },
);

const unnamed = { brand: null, model: null };

it("the log has exactly the differences between each run and the run before it, newest first", async () => {
  await fc.assert(
    fc.asyncProperty(someHistories, async (history) => {
      await using lived = await replayHistory(history);
      const { file: mirror } = lived;
      const expected: unknown[] = [];
      for (const run of [...lived.frozen.keys()].reverse()) {
        const { changes, close } = await openDiff({ mirror, from: "previous", to: { kind: "run", run } });
        // The log has names as they were after its run, a diff those of the present.
        for (const change of changes) expected.push({ run, change: { ...change, ...unnamed } });
        close();
      }
      const found = read({ mirror }, changesOf);
      expect(found.map(({ run, change }) => ({ run, change: { ...change, ...unnamed } }))).toEqual(expected);
    }),
    { numRuns: tries(5, 200) },
  );
});

it("a log since a run has only later runs, and a log since the time before the mirror has all", async () => {
  await using lived = await replayHistory([idle, edited(2), edited(1), edited(2)]);
  const { file: mirror } = lived;
  const runs = (log: ChangeLog) => [...new Set(changesOf(log).map(({ run }) => run))];
  expect(read({ mirror, since: { kind: "run", run: 2 } }, runs)).toEqual([4, 3]);
  expect(read({ mirror, after: 2 }, runs)).toEqual([4, 3]);
  const long = "1999-01-01T00:00:00.000Z";
  const since = { kind: "time", text: "1999", from: long, at: long, timeZone: null } as const;
  expect(read({ mirror, since }, runs)).toEqual([4, 3, 2, 1]);
});

it("entries stay as they are after later runs, and no id occurs twice", async () => {
  await fc.assert(
    fc.asyncProperty(histories(5), async (history) => {
      await using before = await replayHistory(history.slice(0, -1));
      const ids = read({ mirror: before.file }, idsOf);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids)
        expect(id).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    }),
    { numRuns: tries(5, 50) },
  );
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const versions = places.map(() => 1);
  for (const version of [1, 3, 4]) crawl(mirror, worldOfVersions(versions.with(1, version)));
  const readEntries = () => read({ mirror: rig.file }, ({ entries }) => [...entries()]);
  const earlier = readEntries();
  crawl(mirror, worldOfVersions(versions.with(1, 5)));
  const later = readEntries();
  expect(earlier.length).toBeGreaterThanOrEqual(3);
  expect(later.slice(-earlier.length)).toEqual(earlier);
});

it("an entry names a model, and the model of a size, as they were called after its run", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const world = (brand: string, model: string, bras: number) =>
    worldOf({
      "/": root(),
      "brands/": page(["b/1/"], null),
      "b/1/": entity({ name: brand }, { models: urlOf("ms/") }),
      "ms/": page(["m/1/"], null),
      "m/1/": entity({ name: model }, { sizes: urlOf("ss/"), brand: urlOf("b/1/") }),
      "ss/": page(["s/1/"], null),
      "s/1/": entity({ size: "70C", bra_count: bras }, { model: urlOf("m/1/") }),
    });
  crawl(mirror, world("One", "Anna", 1));
  crawl(mirror, world("One", "Anna", 2));
  crawl(mirror, world("Two", "Berta", 3));
  const labels = read({ mirror: rig.file, after: 1 }, ({ entries }) =>
    [...entries()].map(({ run, subject }) => `${run} ${subject?.label}`),
  );
  expect(labels.sort()).toEqual(["2 One › Anna", "3 Two", "3 Two › Berta"]);
});

it("the first run and a run with more than 100 entries are one entry each, with the numbers of changes", async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ brands: 3, models: 120, sizes: 150 });
  const file = `${folder.path}/catalogue.sqlite`;
  const run = (depth: "brands" | "models" | "sizes") => sync({ file, baseUrl: sandbox.url, depth });
  await run("brands");
  await run("models");
  sandbox.advance({ changes: 3 });
  await run("models");
  const entries = read({ mirror: file }, ({ entries }) => [...entries()]);
  expect(entries[0]).toMatchObject({ run: 3, subject: { label: expect.any(String) } });
  const earlier = entries.filter(({ run }) => run < 3);
  expect(earlier.map(({ run, subject, totals }) => ({ run, subject, totals }))).toEqual([
    { run: 2, subject: null, totals: { model: { added: 120 } } },
    { run: 1, subject: null, totals: { brand: { added: 3 } } },
  ]);
});

it("a run with exactly 100 entries has them all, and one with 101 has their number", async () => {
  for (const [count, entries] of [
    [100, 100],
    [101, 1],
  ] as const) {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    const brands = Array.from({ length: count }, (_, n) => `brands/${n}/`);
    const world = (name: string) =>
      worldOf({
        "": root({ brands: urlOf("brands/") }),
        "brands/": page(brands, null, {}, { collection_total: count }),
        ...Object.fromEntries(brands.map((brand) => [brand, entity({ name })])),
      });
    for (const name of ["one", "two"]) crawl(mirror, world(name));
    expect(read({ mirror: rig.file, after: 1 }, idsOf)).toHaveLength(entries);
  }
});

it("what a pruned run changed counts as changed by the next run, also if that run is idle", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const versions = places.map(() => 1);
  crawl(mirror, worldOfVersions(versions));
  // Only a tombstone.
  crawl(mirror, worldOfVersions(versions.with(places.indexOf("s/4/"), 0)), { approve: true });
  crawl(mirror, worldOfVersions(versions.with(places.indexOf("s/4/"), 0)));
  mirror.pruneRuns([2], someTime);
  const found = read({ mirror: rig.file }, changesOf);
  expect(found.filter(({ run }) => run > 1)).toMatchObject([
    { run: 3, change: { kind: "size", change: "removed" } },
  ]);
  expect(new Set(found.map(({ run }) => run))).toEqual(new Set([3, 1]));
});

function read<Result>(request: Parameters<typeof openChangeLog>[0], use: (log: ChangeLog) => Result): Result {
  const log = openChangeLog(request);
  try {
    return use(log);
  } finally {
    log.close();
  }
}

function changesOf({ runs }: ChangeLog) {
  const found: { readonly run: number; readonly change: Change }[] = [];
  for (const { run, changes } of runs()) for (const change of changes) found.push({ run, change });
  return found;
}

const idsOf = ({ entries }: ChangeLog) => [...entries()].map(({ id }) => id);
