/** What a mirror shows after loading snapshots of another one. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import type { MirrorReader } from "../../../src/mirror/reader.ts";
import type { SnapshotSource } from "../../../src/mirror/snapshots/snapshot-resource.ts";
import { readProvenance } from "../../../src/query/provenance.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { tries } from "../../support/thorough.ts";
import { crawl, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { publicState } from "../support/public-state.ts";
import { worldOfTruth } from "../support/world.ts";
import { type HeldResource, resourcesOf, snapshotOf } from "./support/snapshot-of.ts";

const small = { brands: 3, models: 6, sizes: 14, pageSize: 2, paginateSizes: true } as const;
const follow = ["related", "same_cut", "adjacent_sizes", "sizing"];
const now = () => Date.parse("2026-02-01T12:00:00.000Z");

const load = (file: string, ...sources: SnapshotSource[]) => loadSnapshots({ file, sources, kinds, now });

const sandboxOptions = fc.record({
  seed: fc.nat(1000),
  layout: fc.constantFrom("plain" as const, "opaque" as const),
  pagination: fc.constantFrom("page" as const, "cursor" as const),
});
const moves = fc.record({ changes: fc.nat(4), additions: fc.nat(3), removals: fc.nat(3), moves: fc.nat(3) });

/** A mirror after a random history, its resources as a snapshot holds them, and what it shows. */
async function startHistory(options: Parameters<typeof startSandbox>[0], history: readonly object[]) {
  const sandbox = await startSandbox({ ...small, ...options });
  const rig = await startMirrorRig(sandbox.url);
  const mirror = await rig.write();
  const world = () => worldOfTruth(sandbox.truth({ optional: true }));
  crawl(mirror, world(), { follow, approve: true });
  for (const advance of history) {
    sandbox.advance(advance);
    for (let crawls = 0; crawls < 2; crawls++) crawl(mirror, world(), { follow, approve: true });
  }
  return {
    mirror,
    resources: resourcesOf(mirror),
    shown: shownBy(mirror),
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await sandbox.close();
    },
  };
}

/** Held resources with all that is derived from them, and the rows of tombstones. */
function shownBy({ db }: Pick<MirrorReader, "db">) {
  const held = Object.entries(canonicalDump({ db })).filter(([, { state }]) => state === "held");
  const tombstones = ["brand", "model", "size"].map((table) =>
    db.prepare(`select href from ${table} where gone_at is not null order by href`).pluck().all(),
  );
  return { held: Object.fromEntries(held), tombstones };
}

it("a new mirror shows what the snapshot's mirror showed, and is sound", async () => {
  await fc.assert(
    fc.asyncProperty(sandboxOptions, fc.array(moves, { maxLength: 3 }), async (options, history) => {
      await using made = await startHistory(options, history);
      await using rig = await startMirrorRig(made.mirror.identity.baseUrl);
      const report = await load(rig.file, snapshotOf(made.mirror, made.resources));
      expect(report.snapshots[0]?.resources).toMatchObject({ "other-kind": 0, rejected: 0, kept: 0 });
      const mirror = await rig.write();
      const shown = shownBy(mirror);
      expect(shown).toEqual(made.shown);
      const gone = made.resources.flatMap(({ url, goneAt }) => (goneAt === null ? [] : [url]));
      const selectGone = mirror.db.prepare("select url from _resource where state = 'gone'").pluck();
      expect(selectGone.all()).toEqual(expect.arrayContaining(gone));
      for (const href of shown.tombstones.flat() as string[])
        expect(readProvenance(mirror as never, href).gone?.proof).toBe("snapshot");
      expect(problemsOf(mirror)).toEqual([]);
      const before = publicState(mirror.db);
      mirror.rebuild();
      expect(publicState(mirror.db)).toEqual(before);
    }),
    { numRuns: tries(4, 200) },
  );
});

it("the parts of a snapshot give the same mirror in any order", async () => {
  await fc.assert(
    fc.asyncProperty(
      sandboxOptions,
      fc.array(moves, { maxLength: 2 }),
      fc.integer({ min: 2, max: 4 }),
      fc.infiniteStream(fc.nat()),
      async (options, history, count, numbers) => {
        await using made = await startHistory(options, history);
        const parts: HeldResource[][] = Array.from({ length: count }, () => []);
        for (const resource of made.resources) {
          const n = Number(numbers.next().value);
          parts[n % count]?.push(resource);
          // Some are in two parts; the older one must not count.
          const older = { ...resource, fetchedAt: "2025-12-01T00:00:00.000Z", body: Buffer.from("{}") };
          if (n % 5 === 0 && resource.goneAt === null) parts[(n + 1) % count]?.push(older);
        }
        const sources = parts
          .map((part) => snapshotOf(made.mirror, part, { takenOn: "2026-01-20T00:00:00.000Z" }))
          .sort(() => (Number(numbers.next().value) % 2 === 0 ? -1 : 1));
        await using rig = await startMirrorRig(made.mirror.identity.baseUrl);
        await load(rig.file, ...sources);
        expect(rig.read(shownBy)).toEqual(made.shown);
        expect(rig.read(problemsOf)).toEqual([]);
      },
    ),
    { numRuns: tries(4, 200) },
  );
});
