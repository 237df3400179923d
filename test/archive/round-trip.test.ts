/** A restored mirror equals the original, after any history. */
import { readFile, writeFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { createBackup } from "../../src/archive/create.ts";
import { restoreBackup } from "../../src/archive/restore.ts";
import { createAsOfViews } from "../../src/mirror/past/as-of.ts";
import { listPoints } from "../../src/mirror/points/resolve-point.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { openMirrorWriter } from "../../src/mirror/writer.ts";
import { histories, replayHistory, type Step } from "../change/support/histories.ts";
import { crawl, problemsOf, someTime, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { publicState } from "../mirror/support/public-state.ts";
import { baseUrl } from "../mirror/support/world.ts";
import { canonicalDump } from "../support/canonical-dump.ts";
import { tries } from "../support/thorough.ts";
import { accountWorld } from "./support/account-world.ts";
import { startBackupRig } from "./support/backup-rig.ts";
import { forgeZip } from "./support/forge-zip.ts";
import { takeApart, withSums } from "./support/forgery.ts";

/** Everything that a mirror shows, now and after each run. */
function everythingOf(file: string) {
  const mirror = openMirrorReader(file);
  try {
    const now = { dump: canonicalDump(mirror), state: publicState(mirror.db) };
    const past = listPoints(mirror.db).map(({ run }) => {
      const then = openMirrorReader(file);
      try {
        createAsOfViews(then.db, run);
        return publicState(then.db);
      } finally {
        then.close();
      }
    });
    return { now, past };
  } finally {
    mirror.close();
  }
}

const idle: Step = { edits: [], follow: [], maxBatches: 1000, again: [], rebuilds: false, prunes: 0 };
/** A resource becomes known as a brand, is gone before it is read as one, and returns with the same body. */
const goneAndBackAfterItsKindChanged: readonly Step[] = [
  { ...idle, maxBatches: 0 },
  { ...idle, follow: ["featured"], maxBatches: 3 },
  { ...idle, edits: [{ place: 1, version: 0 }], again: [{ place: 1, version: 7 }] },
];

it("a restored mirror is sound, shows the same now and at each run, and makes the same backup again", async () => {
  await fc.assert(
    fc.asyncProperty(histories(4), async (history) => {
      await using mirror = await replayHistory(history);
      await using place = await startMirrorRig();
      const [first, second] = [`${place.folder}/1.zip`, `${place.folder}/2.zip`];
      const created = await createBackup({ mirror: mirror.file, account: null, to: first });
      const restored = `${place.folder}/restored.sqlite`;
      const { check } = await restoreBackup({ file: first, mirror: restored, kinds, openedAt: someTime });
      expect(check.problems).toEqual([]);
      expect(everythingOf(restored)).toEqual(everythingOf(mirror.file));
      const again = await createBackup({ mirror: restored, account: null, to: second });
      expect(again.rootHash).toBe(created.rootHash);
      expect((await readFile(second)).equals(await readFile(first))).toBe(true);
    }),
    { numRuns: tries(8, 400), examples: [[goneAndBackAfterItsKindChanged]] },
  );
});

it("a sync of a restored account does not fetch unchanged resources again, and finds changes", async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  await rig.create("a.zip");
  await rig.restore("a.zip", "restored.sqlite");
  const identity = { baseUrl, area: "account", serviceName: "service" } as const;
  const restored = await openMirrorWriter({
    file: rig.path("restored.sqlite"),
    ...{ identity, kinds, openedAt: someTime },
  });
  try {
    const unchanged = crawl(restored, accountWorld());
    expect(unchanged).toMatchObject({ new: 0, changed: 0, unchanged: 6, gone: 0, failed: 0 });
    const later = accountWorld({ bras: { "1": "red" } });
    expect(crawl(restored, later, { approve: true })).toMatchObject({ changed: 2, gone: 1 });
    crawl(rig.mirror, accountWorld());
    crawl(rig.mirror, later, { approve: true });
    expect(canonicalDump(restored)).toEqual(canonicalDump(rig.mirror));
    expect(problemsOf(restored)).toEqual([]);
  } finally {
    restored.close();
  }
});

it("a column that bookkeeping rows lack gets its default", async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  const entries = await takeApart(await rig.bytes());
  const earlier = entries.map((entry) => {
    const text = entry.content.toString("latin1");
    if (entry.name === "bookkeeping/run-00001.ndjson")
      return { ...entry, content: Buffer.from(text.replaceAll(/,"pruned_at":null/g, ""), "latin1") };
    if (entry.name === "bookkeeping/resource-00001.ndjson")
      return { ...entry, content: Buffer.from(text.replaceAll(/,"fetched_run":\d+/g, ""), "latin1") };
    return entry;
  });
  await writeFile(rig.path("earlier.zip"), forgeZip(withSums(earlier)));
  const { check } = await rig.restore("earlier.zip", "restored.sqlite");
  expect(check.problems).toEqual([]);
  expect(everythingOf(rig.path("restored.sqlite"))).toEqual(everythingOf(rig.file));
});
