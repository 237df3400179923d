/** What a mirror shows after a snapshot that it had loaded was contradicted. */

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import { type MirrorReader, readMirror } from "../../../src/mirror/reader.ts";
import { readCoverage } from "../../../src/mirror/runs/coverage.ts";
import { openMirrorWriter } from "../../../src/mirror/writer.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { tries } from "../../support/thorough.ts";
import { resourcesOf, snapshotOf } from "../load/support/snapshot-of.ts";
import { crawl, problemsOf, someTime, startMirrorRig } from "../support/mirror-rig.ts";
import { publicState } from "../support/public-state.ts";
import { worldOfTruth } from "../support/world.ts";

const small = { brands: 3, models: 6, sizes: 14, pageSize: 2, paginateSizes: true } as const;
const follow = ["related", "same_cut"];
const moves = fc.record({ changes: fc.nat(4), additions: fc.nat(3), removals: fc.nat(3), moves: fc.nat(3) });

/** Everything held and due, with all that is derived from it. */
const shownBy = (mirror: MirrorReader) => ({
  resources: canonicalDump(mirror),
  known: mirror.db.prepare("select url, kind, state, etag from _resource order by url").all(),
});

it("a mirror is again as it was before the snapshot, and sound", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(1000), moves, fc.nat(6), fc.boolean(), async (seed, move, maxBatches, isAll) => {
      await using sandbox = await startSandbox({ ...small, seed });
      const world = () => worldOfTruth(sandbox.truth({ optional: true }));
      await using publisher = await startMirrorRig(sandbox.url);
      await using follower = await startMirrorRig(sandbox.url);
      const own = await follower.write();
      crawl(own, world(), { follow, maxBatches });
      const before = shownBy(own);
      own.close();
      sandbox.advance(move);
      const published = await publisher.write();
      crawl(published, world(), { follow });
      const resources = resourcesOf(published).map((one) => ({
        ...one,
        fetchedAt: "2026-02-01T00:00:00.000Z",
        body: isAll ? Buffer.from(one.body.toString().replace(/^\{/, '{ "forged": true, ')) : one.body,
      }));
      const sources = [snapshotOf(published, resources)];
      const now = () => Date.parse("2026-02-02T00:00:00.000Z");
      await loadSnapshots({ file: follower.file, sources, kinds, now });
      const mirror = await follower.write();
      mirror.db.exec("update _snapshot set condemned_at = '2026-02-03T00:00:00.000Z', condemned_by = 'x'");
      mirror.settleSnapshots("none");
      expect(shownBy(mirror)).toEqual(before);
      expect(problemsOf(mirror)).toEqual([]);
      expect(readCoverage(mirror).kinds.some(({ confirmed }) => confirmed !== undefined)).toBe(false);
      const state = publicState(mirror.db);
      mirror.rebuild();
      expect(publicState(mirror.db)).toEqual(state);
    }),
    {
      numRuns: tries(4, 300),
      examples: [
        // The snapshot has a list of one page, of which the mirror knows two.
        [712, { changes: 2, additions: 0, removals: 2, moves: 0 }, 2, false],
        // The list in the snapshot lacks a brand that the mirror holds.
        [677, { changes: 0, additions: 0, removals: 3, moves: 0 }, 3, false],
      ],
    },
  );
});

it("a removal that is killed at any step changes nothing, and the next run completes it", async () => {
  await using sandbox = await startSandbox({ ...small, seed: 7 });
  const world = () => worldOfTruth(sandbox.truth({ optional: true }));
  await using publisher = await startMirrorRig(sandbox.url);
  await using follower = await startMirrorRig(sandbox.url);
  const own = await follower.write();
  crawl(own, world(), { follow, maxBatches: 3 });
  const before = shownBy(own);
  own.close();
  sandbox.advance({ changes: 4, additions: 2, removals: 1 });
  const published = await publisher.write();
  crawl(published, world(), { follow });
  const resources = resourcesOf(published).map((one) => ({ ...one, fetchedAt: "2026-02-01T00:00:00.000Z" }));
  const now = () => Date.parse("2026-02-02T00:00:00.000Z");
  await loadSnapshots({ file: follower.file, sources: [snapshotOf(published, resources)], kinds, now });
  const mirror = await follower.write();
  mirror.db.exec("update _snapshot set condemned_at = '2026-02-03T00:00:00.000Z', condemned_by = 'x'");
  const loaded = shownBy(mirror);
  const images: string[] = [];
  // The files at any time are those that a kill would leave. A small cache writes pages into the log early.
  mirror.db.pragma("cache_size = 1");
  mirror.db.function("copy_files", () => {
    const image = join(follower.folder, `image-${images.length}.sqlite`);
    copyFileSync(follower.file, image);
    copyFileSync(`${follower.file}-wal`, `${image}-wal`);
    images.push(image);
    return null;
  });
  for (const table of ["_content", "_revision", "_model", "_resource"])
    mirror.db.exec(
      `create temp trigger kill${table} after delete on main.${table} begin select copy_files(); end`,
    );
  mirror.settleSnapshots("none");
  expect(shownBy(mirror)).toEqual(before);
  expect(images.length).toBeGreaterThan(40);
  // The last ones are in the part after the rows were derived again.
  for (const image of images.filter((_, n) => n % 24 === 0 || n === images.length - 1)) {
    expect(readMirror(image, shownBy)).toEqual(loaded);
    const again = await openMirrorWriter({
      file: image,
      identity: mirror.identity,
      kinds,
      openedAt: someTime,
    });
    again.settleSnapshots("none");
    expect(shownBy(again)).toEqual(before);
    expect(problemsOf(again)).toEqual([]);
    again.close();
  }
});
