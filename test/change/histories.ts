/** Random lives of a small mirror, each with the state that it showed as each of its runs closed. */
import fc from "fast-check";
import type { openMirrorState } from "../../src/change/mirror-state.ts";
import { publicTables } from "../../src/mirror/tables.ts";
import { startMirrorRig, walk } from "../mirror/mirror-rig.ts";
import { type Rows, rowsOfState } from "./apply.ts";
import { places, type Versions, versionCount, worldOfVersions } from "./changing-world.ts";

export interface Step {
  readonly edits: readonly { readonly place: number; readonly version: number }[];
  /** After so many batches the run ends with the rest due. */
  readonly maxBatches: number;
  readonly rebuilds: boolean;
}

const version = fc.nat(versionCount - 1);

export const histories = (steps: number): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.record({
      edits: fc.array(fc.record({ place: fc.nat(places.length - 1), version }), { maxLength: 5 }),
      maxBatches: fc.oneof(fc.constant(1000), fc.nat(6)),
      rebuilds: fc.boolean(),
    }),
    { minLength: steps, maxLength: steps },
  );

export interface LivedMirror extends AsyncDisposable {
  readonly file: string;
  /** As the mirror itself said when the run had just closed; the first is before all runs. */
  readonly states: readonly Rows[];
}

export async function liveThrough(history: readonly Step[]): Promise<LivedMirror> {
  const rig = await startMirrorRig();
  const mirror = await rig.write();
  let versions: Versions = places.map(() => 1);
  const states: Rows[] = [new Map()];
  for (const { edits, maxBatches, rebuilds } of history) {
    for (const { place, version } of edits) versions = versions.with(place, version);
    const { runId } = walk(mirror, worldOfVersions(versions), { maxBatches, approve: true });
    // Every tombstone tells the start of its run.
    mirror.db.prepare("update _run set started_at = started_at || id where id = ?").run(runId);
    states.push(rowsOfState(presentOf(mirror)));
    if (rebuilds) mirror.rebuild();
  }
  return { file: rig.file, states, [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose]() };
}

function presentOf(mirror: Parameters<typeof publicTables>[0]): ReturnType<typeof openMirrorState> {
  return {
    place: { mirror: mirror.file, run: 0, endedAt: null },
    ...{ baseUrl: null, isTyped: true, tables: publicTables(mirror) },
    ...{ brands: () => [], close() {} },
  };
}
