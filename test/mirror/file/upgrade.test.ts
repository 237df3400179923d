/** A mirror that an earlier version made, which kept every body and not what rows were before. */
import Database from "better-sqlite3";
import fc from "fast-check";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { migrations } from "../../../schema/migrations.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { openMirrorWriter } from "../../../src/mirror/writer.ts";
import { readHistory } from "../../../src/query/history.ts";
import { readStatus } from "../../../src/query/status.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { planSync } from "../../../src/sync/plan/preview.ts";
import { tries } from "../../support/thorough.ts";
import { makeEarlierVersion } from "../support/earlier-version.ts";
import { problemsOf, someTime, startMirrorRig, walk } from "../support/mirror-rig.ts";
import { publicState } from "../support/public-state.ts";
import { worldOfTruth } from "../support/world.ts";

const versions = Object.keys(migrations);
const beforeHistory = versions.slice(0, 2);
const beforeTimesWereNumbers = versions.slice(0, 7);

const advance = fc.record({
  changes: fc.nat(8),
  additions: fc.nat(3),
  removals: fc.nat(3),
  returns: fc.nat(2),
  moves: fc.nat(2),
});

it("shows the same past, once it was opened for writing, as one that remembered from the start", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1000),
      fc.array(advance, { minLength: 2, maxLength: 5 }),
      async (seed, history) => {
        await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 14, pageSize: 2, seed });
        await using rig = await startMirrorRig(sandbox.url);
        const mirror = await rig.write();
        for (const moves of history) {
          walk(mirror, worldOfTruth(sandbox.truth({ optional: true })), { approve: true });
          sandbox.advance(moves);
        }
        const { identity } = mirror;
        mirror.close();
        const older = `${rig.folder}/older.sqlite`;
        await makeEarlierVersion(older, rig.file, beforeHistory);
        expect(() => openMirrorReader(older, { kind: "run", run: 1 })).toThrow(
          expect.objectContaining({ name: "MirrorError", code: "older", file: older }),
        );

        (await openMirrorWriter({ file: older, identity, kinds, openedAt: someTime })).close();
        for (const run of history.map((_, n) => n + 1)) {
          const [kept, upgraded] = [rig.file, older].map((file) => {
            const reader = openMirrorReader(file, { kind: "run", run });
            const { coverage = [], ...state } = publicState(reader.db);
            reader.close();
            // Which pages were off their list's chain at a time is remembered since this version only.
            return { ...state, coverage: coverage.filter((row) => /^\["(root|brand|model|size)"/.test(row)) };
          });
          expect(upgraded).toEqual(kept);
        }
        const present = openMirrorReader(older);
        expect(problemsOf(present)).toEqual([]);
        present.close();
      },
    ),
    { numRuns: tries(6, 50) },
  );
});

it("tells when it was last checked as before, and plans once it was opened for writing", async () => {
  await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 14 });
  await using rig = await startMirrorRig(sandbox.url);
  const mirror = await rig.write();
  walk(mirror, worldOfTruth(sandbox.truth()));
  const { identity } = mirror;
  mirror.close();
  const older = `${rig.folder}/older.sqlite`;
  await makeEarlierVersion(older, rig.file, beforeTimesWereNumbers);
  const db = new Database(older);
  db.exec("create view my_own as select url, checked_at from _resource");
  db.close();

  const told = () => {
    const reader = openMirrorReader(older);
    const brand = String(reader.db.prepare("select url from _resource where kind = 'brand'").pluck().get());
    const answer = [readStatus(reader).kinds, readHistory(reader, "brand", brand)];
    reader.close();
    return answer;
  };
  const plan = () => planSync({ file: older, baseUrl: sandbox.url }).due;
  const before = told();
  expect(before).toEqual([
    expect.arrayContaining([expect.objectContaining({ kind: "brand", oldestCheckAt: someTime })]),
    expect.objectContaining({
      lives: [
        expect.objectContaining({
          revisions: [expect.objectContaining({ lastSeen: { run: 1, at: someTime } })],
        }),
      ],
    }),
  ]);
  expect(plan).toThrow(expect.objectContaining({ name: "MirrorError", code: "older", file: older }));

  const opened = await openMirrorWriter({ file: older, identity, kinds, openedAt: someTime });
  expect(problemsOf(opened)).toEqual([]);
  expect(opened.db.prepare("select count(*) from my_own").pluck().get()).toBeGreaterThan(0);
  opened.close();
  expect(told()).toEqual(before);
  expect(plan()).not.toEqual([]);
});
