/** `openDiff` of two runs reads one mirror, once, as it was at one instant. */
import Database from "better-sqlite3";
import { afterEach, expect, it, vi } from "vitest";
import { openDiff } from "../../src/change/open-diff.ts";
import { readHistory } from "../../src/query/history.ts";
import { crawl, someTime, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, worldOf } from "../mirror/support/world.ts";
import { places, worldOfVersions } from "./support/changing-world.ts";
import { replayHistory, type Step } from "./support/histories.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const idle: Step = { edits: [], follow: [], maxBatches: 1000, again: [], rebuilds: false, prunes: 0 };
const edited = (version: number): Step => ({ ...idle, edits: [{ place: 1, version }] });
/** The brand changes twice within the run, and closes as it was before. */
const changedBack: Step = { ...idle, again: [2, 1].map((version) => ({ place: 1, version })) };

it("a diff opens its mirror once, also to find the last run that changed anything", async () => {
  await using lived = await replayHistory([idle, edited(2), edited(1), changedBack, changedBack, idle]);
  const prepare = vi.spyOn(Database.prototype, "prepare");
  const diffs = [
    await openDiff({ mirror: lived.file }),
    await openDiff({ mirror: lived.file, from: { kind: "run", run: 1 }, to: { kind: "run", run: 2 } }),
    await openDiff({ mirror: lived.file, from: "previous" }),
  ];
  // Every connection prepares statements, so those seen here are all that were opened.
  const connections = new Set(prepare.mock.contexts);
  expect([...connections].map((connection) => (connection as Database.Database).name)).toEqual([
    ...[lived.file, lived.file, lived.file],
  ]);
  expect(diffs.map(({ from, to }) => [from?.place.run, to.place.run])).toEqual([
    [2, 6],
    [1, 2],
    [5, 6],
  ]);
  expect(diffs.map(({ changes }) => [...changes].length > 0)).toEqual([true, true, false]);
  for (const { close } of diffs) close();
});

it("a diff compares one instant, whatever is pruned and synced after it was opened", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const sync = (version: number) =>
    crawl(mirror, worldOfVersions(places.map(() => version)), { approve: true });
  sync(1);
  sync(2);
  const before = await openDiff({ mirror: rig.file });
  const expected = [...before.changes];
  before.close();
  const opened = await openDiff({ mirror: rig.file });
  mirror.pruneRuns([1], someTime);
  sync(3);
  expect([...opened.changes]).toEqual(expected);
  opened.close();
  expect(expected.length).toBeGreaterThan(0);
});

it("a diff passes over a field that the service has added, which the history shows", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  for (const fields of [{ name: "A" }, { name: "A", colour: "red" }, { name: "A", colour: "blue" }])
    crawl(
      mirror,
      worldOf({ "/": root(), "brands/": page(["b/"]), "b/": entity({ slug: "brand", ...fields }) }),
    );
  const opened = await openDiff({ mirror: rig.file, from: { kind: "run", run: 1 } });
  expect([opened.to.place.run, ...opened.changes]).toEqual([3]);
  opened.close();
  const { lives } = readHistory(mirror, "brand", "brand");
  expect(lives.flatMap(({ revisions }) => revisions.slice(1).map(({ changes }) => changes))).toEqual([
    [{ field: "body.colour", before: null, after: "red" }],
    [{ field: "body.colour", before: "red", after: "blue" }],
  ]);
});

it("the changes between two past runs have the keys of the later one, not the present ones", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  for (const fields of [
    { slug: "one", name: "A" },
    { slug: "two", name: "B" },
    { slug: "three", name: "B" },
  ])
    crawl(mirror, worldOf({ "/": root(), "brands/": page(["b/"]), "b/": entity(fields) }));
  const keysAt = async (to: number) => {
    const { changes, close } = await openDiff({
      mirror: rig.file,
      from: { kind: "run", run: to - 1 },
      to: { kind: "run", run: to },
    });
    const keys = [...changes].map(({ key }) => key);
    close();
    return new Set(keys);
  };
  expect(await keysAt(2)).toEqual(new Set(["two"]));
  expect(await keysAt(3)).toEqual(new Set(["three"]));
});
