/** Random histories of a small mirror, with the state after each run. */
import fc from "fast-check";
import { publicTables } from "../../../src/mirror/public-tables.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { crawl, someTime, startMirrorRig } from "../../mirror/support/mirror-rig.ts";
import { publicState } from "../../mirror/support/public-state.ts";
import { resultFrom, urlOf } from "../../mirror/support/world.ts";
import { type Rows, rowsOfState } from "./apply.ts";
import { otherLinks, places, type Versions, versionCount, worldOfVersions } from "./changing-world.ts";

export interface Edit {
  readonly place: number;
  readonly version: number;
}

export interface Step {
  readonly edits: readonly Edit[];
  /** Further links to follow from this run on. */
  readonly follow: readonly string[];
  /** After this many batches the run ends, with the rest due. */
  readonly maxBatches: number;
  /** Bodies that are ingested again before the run closes; a resource may have several. */
  readonly again: readonly Edit[];
  readonly rebuilds: boolean;
  /** A bit mask of runs to prune, by run number modulo 8; never the latest. */
  readonly prunes: number;
}

const edit = fc.record({ place: fc.nat(places.length - 1), version: fc.nat(versionCount - 1) });

export interface HistoryOptions {
  readonly minSteps?: number;
  /**
   * Whether runs are pruned. Then no further links are followed: pruning drops the record that a gone resource was never
   * read as its present kind.
   */
  readonly prunes?: boolean;
}

export const histories = (
  steps: number,
  { minSteps = steps, prunes = false }: HistoryOptions = {},
): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.record({
      edits: fc.array(edit, { maxLength: 5 }),
      follow: prunes
        ? fc.constant([])
        : fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray([...otherLinks])),
      maxBatches: fc.oneof(fc.constant(1000), fc.nat(6)),
      again: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(edit, { maxLength: 4 })),
      rebuilds: fc.boolean(),
      prunes: prunes ? fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(255)) : fc.constant(0),
    }),
    { minLength: minSteps, maxLength: steps },
  );

export interface HistoryMirror extends AsyncDisposable {
  readonly file: string;
  /** The mirror's rows directly after each run, without pruned runs; 0 is before the first run. */
  readonly states: ReadonlyMap<number, Rows>;
  /** All public views at the same times. */
  readonly frozen: ReadonlyMap<number, ReturnType<typeof publicState>>;
}

export async function replayHistory(history: readonly Step[]): Promise<HistoryMirror> {
  const rig = await startMirrorRig();
  const mirror = await rig.write();
  let versions: Versions = places.map(() => 1);
  const states = new Map<number, Rows>([[0, new Map()]]);
  const frozen = new Map<number, ReturnType<typeof publicState>>();
  const follow = new Set<string>();
  for (const { edits, again, rebuilds, prunes, maxBatches, ...step } of history) {
    for (const { place, version } of edits) versions = versions.with(place, version);
    for (const link of step.follow) follow.add(link);
    const { runId } = crawl(mirror, worldOfVersions(versions), {
      ...{ maxBatches, approve: true, follow: [...follow] },
      beforeClosing(run) {
        for (const { place, version } of again) {
          versions = versions.with(place, version);
          ingestAgain(mirror, place, versions, run);
        }
      },
    });
    // Tombstones show the start of their run, so each run needs a start of its own.
    mirror.db
      .prepare(
        "update _run set started_at = strftime('%FT%H:%M:%fZ', started_at, id || ' seconds') where id = ?",
      )
      .run(runId);
    states.set(runId, rowsOfState({ tables: publicTables(mirror) }));
    frozen.set(runId, publicState(mirror.db));
    const pruned = [...frozen.keys()].filter((id) => id !== runId && (prunes >> (id % 8)) % 2 === 1);
    if (pruned.length > 0) mirror.pruneRuns(pruned, someTime);
    for (const id of pruned) {
      states.delete(id);
      frozen.delete(id);
    }
    if (rebuilds) mirror.rebuild();
  }
  return { file: rig.file, states, frozen, [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose]() };
}

function ingestAgain(mirror: MirrorWriter, place: number, versions: Versions, run: number): void {
  const url = urlOf(places[place] ?? "");
  const id = mirror.db
    .prepare<[string], number>("select id from _resource where url = ? and state = 'held'")
    .pluck()
    .get(url);
  if (id !== undefined) mirror.ingest([resultFrom(worldOfVersions(versions), { id, url, etag: null })], run);
}
