/** Forgetting runs: every run that is kept shows what it showed, word for word, and so it does when all is computed anew. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { type MirrorReader, openMirrorReader } from "../../../src/mirror/reader.ts";
import { versionedTables } from "../../../src/mirror/rows/versioned-rows.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { readHistory } from "../../../src/query/history.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { currentBodies } from "../../support/current-bodies.ts";
import { tries } from "../../support/thorough.ts";
import { beginRun, closeRun, problemsOf, someTime, startMirrorRig, walk } from "../support/mirror-rig.ts";
import { publicState } from "../support/public-state.ts";
import { answerFrom, entity, page, root, urlOf, worldOf, worldOfTruth } from "../support/world.ts";

/** What runs showed when they had closed, of those that are not forgotten. */
function keepStates(mirror: MirrorWriter) {
  const states = new Map<number, ReturnType<typeof publicState>>();
  const expectKept = () => {
    for (const [run, kept] of states) {
      const reader = openMirrorReader(mirror.file, { kind: "run", run });
      try {
        // The list of changes is of revisions, of which there are fewer now.
        const { recently_changed: changes = [], ...state } = kept;
        const { recently_changed: remaining = [], ...shown } = publicState(reader.db);
        expect(shown).toEqual(state);
        expect(changes).toEqual(expect.arrayContaining([...remaining]));
      } finally {
        reader.close();
      }
    }
    expect(problemsOf(mirror)).toEqual([]);
  };
  return {
    expectKept,
    keep: (runId: number) => void states.set(runId, publicState(mirror.db)),
    /** @param bits whether to forget each of eight runs, and the next eight, but never the latest */
    forget(bits: number, { rebuilds }: { readonly rebuilds: boolean }): number {
      const present = () => [canonicalDump(mirror), currentBodies(mirror)];
      const before = present();
      const latest = Math.max(...states.keys());
      const ids = [...states.keys()].filter((id) => id !== latest && (bits >> (id % 8)) % 2 === 1);
      for (const id of ids) states.delete(id);
      const came = revisionsThatCameIn(mirror, [...states.keys()]);
      const { revisions } = mirror.pruneRuns(ids, someTime);
      if (ids.length > 0) expect(leftovers(mirror, [...states.keys()])).toEqual([]);
      if (rebuilds) {
        expectKept();
        mirror.rebuild();
      }
      expectKept();
      expect(present()).toEqual(before);
      expect(revisionsThatCameIn(mirror, [...states.keys()])).toEqual(came);
      return revisions;
    },
  };
}

const revisionsThatCameIn = ({ db }: MirrorReader, runIds: readonly number[]) =>
  db
    .prepare(
      "select resource_id, seq, content_id from _revision where from_run in (select value from json_each(?))",
    )
    .all(JSON.stringify(runIds));

/** Rows, states and bodies that no run shows, and rows that are said to be of a run that is forgotten. */
function leftovers({ db }: MirrorReader, keptIds: readonly number[]): unknown[] {
  const isKept = (column: string) => `${column} in (select value from json_each(:kept))`;
  const isSeen = (from: string) =>
    `exists (select 1 from json_each(:kept) where value >= ${from} and value < to_run)`;
  const previousEnd =
    "(select coalesce(max(to_run), 0) from _resource_past o where o.id = p.id and o.to_run < p.to_run)";
  return [
    ...versionedTables.flatMap(({ name }) => [
      `select '${name}' from ${name}_past where not (${isSeen("from_run")} and ${isKept("from_run")} and ${isKept("to_run")})`,
      `select '${name}' from ${name} where not ${isKept("from_run")}`,
    ]),
    `select 'state' from _resource_past p where not ${isSeen(previousEnd)}`,
    `select 'body' from _content where id not in (select content_id from _revision)`,
  ].flatMap((select) => db.prepare<{ kept: string }>(select).all({ kept: JSON.stringify(keptIds) }));
}

/** Which of the runs so far are forgotten then, if any. */
const forgets = fc.option(fc.nat(255), { freq: 2 });

const advance = fc.record({
  changes: fc.nat(6),
  additions: fc.nat(3),
  removals: fc.nat(3),
  returns: fc.nat(3),
  moves: fc.nat(3),
  /** After so many batches the run ends with the rest due. */
  maxBatches: fc.integer({ min: 1, max: 40 }),
  approve: fc.boolean(),
  rebuilds: fc.boolean(),
  forgets,
});

it("leaves what every other run shows of a catalogue, and the mirror sound", async () => {
  const follow = ["related", "same_cut", "adjacent_sizes", "sizing"];
  let removed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1000),
      fc.array(advance, { minLength: 3, maxLength: 9 }),
      async (seed, history) => {
        await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 14, pageSize: 2, seed });
        await using rig = await startMirrorRig(sandbox.url);
        const mirror = await rig.write();
        const states = keepStates(mirror);
        for (const { maxBatches, approve, rebuilds, forgets: bits, ...moves } of history) {
          const world = worldOfTruth(sandbox.truth({ optional: true }));
          states.keep(walk(mirror, world, { follow, maxBatches, approve }).runId);
          if (bits !== null) removed += states.forget(bits, { rebuilds });
          sandbox.advance(moves);
        }
        states.expectKept();
      },
    ),
    { numRuns: tries(5, 100), endOnFailure: true },
  );
  expect(removed).toBeGreaterThan(0);
});

const name = fc.constantFrom("Lace", "Tulle", "Voile");

/** The front page, and two lists that name the brands, each by what it knew when it was read. */
const bodyOf = (path: string, names: readonly string[]): object => {
  if (path === "/") return root({ brands: urlOf("brands/"), featured: urlOf("featured/") });
  if (path === "a/" || path === "b/") return entity({ name: names[0], slug: path });
  const items = ["a/", "b/"].map((item, n) => ({ href: urlOf(item), name: names[n] }));
  return { ...page([]), collection: items };
};

it("leaves what every other run shows where answers come again and again in one run, and change back", async () => {
  const answer = fc.record({
    path: fc.constantFrom("brands/", "featured/", "a/", "b/"),
    /** Null for what is gone. */
    names: fc.option(fc.tuple(name, name), { freq: 4 }),
  });
  const run = fc.record({
    answers: fc.array(answer, { maxLength: 6 }),
    approve: fc.boolean(),
    rebuilds: fc.boolean(),
    forgets,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 3, maxLength: 8 }), async (history) => {
      await using rig = await startMirrorRig();
      const mirror = await rig.write();
      const all = ["/", "brands/", "featured/", "a/", "b/"];
      const world = worldOf(Object.fromEntries(all.map((path) => [path, bodyOf(path, ["Lace", "Lace"])])));
      const states = keepStates(mirror);
      states.keep(walk(mirror, world, { follow: ["featured"] }).runId);
      const idOf = mirror.db.prepare<[string], number>("select id from _resource where url = ?").pluck();
      for (const { answers, approve, rebuilds, forgets: bits } of history) {
        const runId = beginRun(mirror);
        for (const { path, names } of answers) {
          const url = urlOf(path);
          const answered = worldOf(names === null ? {} : { [path]: bodyOf(path, names) });
          mirror.ingest([answerFrom(answered, { id: idOf.get(url) ?? 0, url, etag: null })], runId);
        }
        closeRun(mirror, runId, approve);
        states.keep(runId);
        if (bits !== null) states.forget(bits, { rebuilds });
      }
      states.expectKept();
    }),
    { numRuns: tries(5, 100), endOnFailure: true },
  );
});

it("leaves a history without a gap where nobody looked", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  for (const brandName of ["Lace", "Tulle", "Voile", "Satin"]) {
    const names = [brandName, brandName];
    walk(mirror, worldOf({ "/": root(), "brands/": page(["a/"]), "a/": bodyOf("a/", names) }));
  }
  mirror.pruneRuns([2, 3], someTime);
  const { lives } = readHistory(mirror, "brand", urlOf("a/"));
  expect(lives).toMatchObject([
    {
      revisions: [
        { revision: 1, firstSeen: { run: 1 } },
        {
          revision: 4,
          firstSeen: { run: 4 },
          changes: [{ field: "name", before: "Lace", after: "Satin" }],
        },
      ],
      gone: null,
    },
  ]);
});
