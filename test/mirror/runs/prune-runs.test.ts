/** Pruning runs: the state after every remaining run stays the same, also after a rebuild. */
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
import { beginRun, closeRun, crawl, problemsOf, someTime, startMirrorRig } from "../support/mirror-rig.ts";
import { publicState } from "../support/public-state.ts";
import { entity, page, resultFrom, root, urlOf, worldOf, worldOfTruth } from "../support/world.ts";

/** Records the state after each run, and compares the states of the remaining runs. */
function recordStates(mirror: MirrorWriter) {
  const states = new Map<number, ReturnType<typeof publicState>>();
  const expectUnchanged = () => {
    for (const [run, recorded] of states) {
      const reader = openMirrorReader(mirror.file, { kind: "run", run });
      try {
        // Pruning deletes revisions, so `recently_changed` may be shorter.
        const { recently_changed: changes = [], ...state } = recorded;
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
    expectUnchanged,
    record: (runId: number) => void states.set(runId, publicState(mirror.db)),
    /** @param bits which of eight runs to prune, and of the next eight; the latest run always remains */
    prune(bits: number, { rebuilds }: { readonly rebuilds: boolean }): number {
      const present = () => [canonicalDump(mirror), currentBodies(mirror)];
      const before = present();
      const latest = Math.max(...states.keys());
      const ids = [...states.keys()].filter((id) => id !== latest && (bits >> (id % 8)) % 2 === 1);
      for (const id of ids) states.delete(id);
      const ofRemaining = revisionsOfRuns(mirror, [...states.keys()]);
      const { revisions } = mirror.pruneRuns(ids, someTime);
      if (ids.length > 0) expect(leftovers(mirror, [...states.keys()])).toEqual([]);
      if (rebuilds) {
        expectUnchanged();
        mirror.rebuild();
      }
      expectUnchanged();
      expect(present()).toEqual(before);
      expect(revisionsOfRuns(mirror, [...states.keys()])).toEqual(ofRemaining);
      return revisions;
    },
  };
}

const revisionsOfRuns = ({ db }: MirrorReader, runIds: readonly number[]) =>
  db
    .prepare(
      "select resource_id, seq, content_id from _revision where from_run in (select value from json_each(?))",
    )
    .all(JSON.stringify(runIds));

/** Rows, states and bodies that no remaining run shows, and rows that refer to a pruned run. */
function leftovers({ db }: MirrorReader, remainingIds: readonly number[]): unknown[] {
  const isRemaining = (column: string) => `${column} in (select value from json_each(:remaining))`;
  const isShown = (from: string) =>
    `exists (select 1 from json_each(:remaining) where value >= ${from} and value < to_run)`;
  const previousEnd =
    "(select coalesce(max(to_run), 0) from _resource_past o where o.id = p.id and o.to_run < p.to_run)";
  return [
    ...versionedTables.flatMap(({ name }) => [
      `select '${name}' from ${name}_past where not (${isShown("from_run")} and ${isRemaining("from_run")} and ${isRemaining("to_run")})`,
      `select '${name}' from ${name} where not ${isRemaining("from_run")}`,
    ]),
    `select 'state' from _resource_past p where not ${isShown(previousEnd)}`,
    `select 'body' from _content where id not in (select content_id from _revision)`,
    `select 'headers' from _headers where id not in (select headers_id from _revision where headers_id is not null)`,
  ].flatMap((select) =>
    db.prepare<{ remaining: string }>(select).all({ remaining: JSON.stringify(remainingIds) }),
  );
}

/** Which of the runs so far are pruned after a run; null for none. */
const prunes = fc.option(fc.nat(255), { freq: 2 });

const advance = fc.record({
  changes: fc.nat(6),
  additions: fc.nat(3),
  removals: fc.nat(3),
  returns: fc.nat(3),
  moves: fc.nat(3),
  /** The run ends after this number of batches, with resources still due. */
  maxBatches: fc.integer({ min: 1, max: 40 }),
  approve: fc.boolean(),
  rebuilds: fc.boolean(),
  prunes,
});

it("pruning changes no remaining run of a catalogue, and leaves a sound mirror", async () => {
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
        const states = recordStates(mirror);
        for (const { maxBatches, approve, rebuilds, prunes: bits, ...moves } of history) {
          const world = worldOfTruth(sandbox.truth({ optional: true }));
          states.record(crawl(mirror, world, { follow, maxBatches, approve }).runId);
          if (bits !== null) removed += states.prune(bits, { rebuilds });
          sandbox.advance(moves);
        }
        states.expectUnchanged();
      },
    ),
    { numRuns: tries(3, 100), endOnFailure: true },
  );
  expect(removed).toBeGreaterThan(0);
});

const name = fc.constantFrom("Lace", "Tulle", "Voile");

/** The root, two brands, and two lists that name the brands. */
const bodyOf = (path: string, names: readonly string[]): object => {
  if (path === "/") return root({ brands: urlOf("brands/"), featured: urlOf("featured/") });
  if (path === "a/" || path === "b/") return entity({ name: names[0], slug: path });
  const items = ["a/", "b/"].map((item, n) => ({ href: urlOf(item), name: names[n] }));
  return { ...page([]), collection: items };
};

it("pruning changes no remaining run if resources change several times in one run, and back", async () => {
  const response = fc.record({
    path: fc.constantFrom("brands/", "featured/", "a/", "b/"),
    /** Null for a resource that is gone. */
    names: fc.option(fc.tuple(name, name), { freq: 4 }),
  });
  const run = fc.record({
    responses: fc.array(response, { maxLength: 6 }),
    approve: fc.boolean(),
    rebuilds: fc.boolean(),
    prunes,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 3, maxLength: 8 }), async (history) => {
      await using rig = await startMirrorRig();
      const mirror = await rig.write();
      const all = ["/", "brands/", "featured/", "a/", "b/"];
      const world = worldOf(Object.fromEntries(all.map((path) => [path, bodyOf(path, ["Lace", "Lace"])])));
      const states = recordStates(mirror);
      states.record(crawl(mirror, world, { follow: ["featured"] }).runId);
      const idOf = mirror.db.prepare<[string], number>("select id from _resource where url = ?").pluck();
      for (const { responses, approve, rebuilds, prunes: bits } of history) {
        const runId = beginRun(mirror);
        for (const { path, names } of responses) {
          const url = urlOf(path);
          const responded = worldOf(names === null ? {} : { [path]: bodyOf(path, names) });
          mirror.ingest([resultFrom(responded, { id: idOf.get(url) ?? 0, url, etag: null })], runId);
        }
        closeRun(mirror, runId, approve);
        states.record(runId);
        if (bits !== null) states.prune(bits, { rebuilds });
      }
      states.expectUnchanged();
    }),
    { numRuns: tries(3, 100), endOnFailure: true },
  );
});

it("pruning leaves no gap in the history of a resource", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  for (const brandName of ["Lace", "Tulle", "Voile", "Satin"]) {
    const names = [brandName, brandName];
    crawl(mirror, worldOf({ "/": root(), "brands/": page(["a/"]), "a/": bodyOf("a/", names) }));
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

it("pruning deletes the headers that no remaining revision has", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const world = (name: string) =>
    worldOf({ "": root({ brands: urlOf("b/") }), "b/": page([]), "x/": entity({ name }) });
  for (const name of ["one", "two", "three"]) crawl(mirror, world(name));
  const add = mirror.db.prepare("insert into _headers (content_type, link) values (?, ?)");
  const unused = add.run("text/unused", null).lastInsertRowid;
  const used = add.run("text/used", null).lastInsertRowid;
  mirror.db.prepare("update _revision set headers_id = ? where to_run is null").run(used);
  mirror.pruneRuns([2], someTime);
  const ids = mirror.db.prepare("select id from _headers").pluck().all();
  expect(ids).toContain(Number(used));
  expect(ids).not.toContain(Number(unused));
  expect(problemsOf(mirror)).toEqual([]);
});
