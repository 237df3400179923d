/** Of several snapshots, the one with the newest body of each resource: the same one in any order of the snapshots. */
import type { SnapshotDescription, SnapshotSource } from "../snapshots/snapshot-resource.ts";
import { knownUntil } from "./load-bodies.ts";

export interface Newest {
  /** All resources of all snapshots. */
  readonly count: number;
  readonly kinds: ReadonlySet<string>;
  isFrom(url: string, source: number): boolean;
}

export async function chooseNewest(sources: readonly SnapshotSource[]): Promise<Newest> {
  const kinds = new Set<string>();
  // The newer snapshot first, so that it wins where both know as much.
  const order = sources.map((source, index) => ({ source, index })).sort(compare);
  const chosen = new Map<string, { readonly source: number; readonly until: string }>();
  let count = 0;
  for (const { source, index } of order) {
    for await (const resource of source.resources()) {
      kinds.add(resource.kind);
      if (sources.length === 1) count++;
      else {
        const until = knownUntil(resource);
        const other = chosen.get(resource.url);
        if (other === undefined || other.until < until) chosen.set(resource.url, { source: index, until });
      }
    }
  }
  return {
    count: sources.length === 1 ? count : chosen.size,
    kinds,
    isFrom: (url, source) => sources.length === 1 || chosen.get(url)?.source === source,
  };
}

interface Ordered {
  readonly source: { readonly description: Pick<SnapshotDescription, "takenOn" | "rootHash"> };
}

function compare({ source: { description: a } }: Ordered, { source: { description: b } }: Ordered): number {
  if (a.takenOn !== b.takenOn) return a.takenOn > b.takenOn ? -1 : 1;
  return a.rootHash < b.rootHash ? -1 : 1;
}
