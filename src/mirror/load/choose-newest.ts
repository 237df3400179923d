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
  const [only, ...others] = sources;
  if (only?.contents !== undefined && others.length === 0) return { ...only.contents, isFrom: () => true };
  const kinds = new Set<string>();
  const continued = new Map(sources.map(({ description }) => [description.rootHash, description.continues]));
  /** An increment comes after what it adds to, also on the same day. */
  const depthOf = (rootHash: string): number => {
    let depth = 0;
    for (let at = continued.get(rootHash); at !== undefined && depth < sources.length; depth++)
      at = continued.get(at);
    return depth;
  };
  // The newer snapshot first, so that it wins where both know as much.
  const order = sources
    .map((source, index) => ({ source, index, depth: depthOf(source.description.rootHash) }))
    .sort(compare);
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
  readonly depth: number;
}

function compare(one: Ordered, other: Ordered): number {
  const [a, b] = [one.source.description, other.source.description];
  if (a.takenOn !== b.takenOn) return a.takenOn > b.takenOn ? -1 : 1;
  if (one.depth !== other.depth) return other.depth - one.depth;
  return a.rootHash < b.rootHash ? -1 : 1;
}
