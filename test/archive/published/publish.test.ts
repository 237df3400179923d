/** Published folders: a whole snapshot, increments of what has changed, and what a kill leaves. */
import { copyFileSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readState } from "../../../src/archive/published/state.ts";
import { crawl } from "../../mirror/support/mirror-rig.ts";
import { catalogueWorld } from "../support/linked-catalogue-rig.ts";
import { rename, startPublisher } from "./support/publisher.ts";

it("the first snapshot is whole, the next ones have what has changed, and nothing changed writes nothing", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  crawl(rig.mirror, world);
  const first = await rig.publish();
  expect(first).toMatchObject({
    sequence: 1,
    published: { continues: null, sequence: 1 },
    resources: world.size,
  });
  const before = readFileSync(join(rig.folder, "state.json"));
  expect(await rig.publish()).toMatchObject({ sequence: 1, published: null, removed: [] });
  expect(readFileSync(join(rig.folder, "state.json"))).toEqual(before);
  rename(world, "Newer");
  crawl(rig.mirror, world);
  expect(await rig.publish()).toMatchObject({
    ...{ sequence: 2, resources: 1, published: { continues: first.published?.rootHash } },
  });
  expect(await rig.published()).toEqual(await rig.whole());
  expect(readdirSync(rig.folder).sort()).toEqual([
    ...["catalogue-000001-2026-01-15.zip", "catalogue-000002-2026-01-15.zip", "state.json"],
  ]);
  const umask = process.umask();
  for (const name of readdirSync(rig.folder))
    expect(statSync(join(rig.folder, name)).mode & 0o777).toBe(0o666 & ~umask);
});

it("older snapshots are removed with their increments, and numbers go on", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  for (let n = 1; n <= 5; n++) {
    rename(world, `Name ${n}`);
    crawl(rig.mirror, world);
    await rig.publish({ maxIncrements: 1, keep: 1 });
  }
  const state = readState(rig.folder);
  expect(state?.snapshots.map(({ sequence, continues }) => [sequence, continues === null])).toEqual([
    [5, true],
  ]);
  expect(readdirSync(rig.folder).sort()).toEqual(["catalogue-000005-2026-01-15.zip", "state.json"]);
});

it("what a kill leaves before or after state.json is replaced or removed by the next call", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  crawl(rig.mirror, world);
  await rig.publish();
  const old = join(rig.above, "old.json");
  copyFileSync(join(rig.folder, "state.json"), old);
  rename(world, "Newer");
  crawl(rig.mirror, world);
  const { published } = await rig.publish();
  // Killed before state.json: the increment is written, and not listed.
  renameSync(old, join(rig.folder, "state.json"));
  rename(world, "Newest");
  crawl(rig.mirror, world);
  expect((await rig.publish()).published).toMatchObject({ sequence: 2, file: published?.file });
  expect(await rig.published()).toEqual(await rig.whole());
  // Killed after it: a file that is no longer listed is still there. What is not ours stays.
  writeFileSync(join(rig.folder, "catalogue-000000-2026-01-01.zip"), "");
  writeFileSync(join(rig.folder, "index.html"), "");
  expect((await rig.publish()).removed).toEqual(["catalogue-000000-2026-01-01.zip"]);
  expect(readdirSync(rig.folder)).toContain("index.html");
});
