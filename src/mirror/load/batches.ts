/**
 * Collects resources of snapshots into batches. A resource to which nothing leads yet waits for the body that links to it:
 * the pages of a list may come in any order, and its owner may be in another snapshot.
 */
import type { SnapshotResource } from "../snapshots/snapshot-resource.ts";
import type { LoadableBody, LoadOutcome } from "./load-bodies.ts";

/** Of the bodies in a batch, which are in memory together. */
const maxBatchBytes = 8 * 2 ** 20;

/** After so many bodies of a kind a batch ends: then a dictionary is made, with which the next ones are compressed. */
const firstOfKind = 64;

/** Of waiting bodies. Those beyond it are read a second time. */
const maxWaitingBytes = 64 * 2 ** 20;

export interface Batches {
  add(resource: SnapshotResource, source: number): Promise<void>;
  /** Records an outcome without loading. */
  settle(url: string, outcome: LoadOutcome, source: number): void;
  isSettled(url: string): boolean;
  /** Loads all that is collected, and what waited for it. */
  flush(): void;
  /** Whether the sources are to be read again, for resources that no longer fitted among the waiting ones. */
  beginAgain(): boolean;
  /** Counts what nothing leads to. */
  end(): void;
}

export function createBatches(
  load: (batch: readonly LoadableBody[], source: number) => readonly LoadOutcome[],
  onOutcome: (outcome: LoadOutcome, source: number) => void,
  batchSize: number,
): Batches {
  const settled = new Set<string>();
  const waiting = new Map<string, { readonly body: LoadableBody; readonly source: number }>();
  const unread = new Map<string, number>();
  let waitingBytes = 0;
  let batch: LoadableBody[] = [];
  let batchBytes = 0;
  let batchSource = 0;
  let kind: string | null = null;
  const countOfKind = new Map<string, number>();
  let hasProgress = false;

  const settle = (url: string, outcome: LoadOutcome, source: number): void => {
    if (settled.has(url)) return;
    settled.add(url);
    unread.delete(url);
    hasProgress = true;
    onOutcome(outcome, source);
  };

  const wait = (body: LoadableBody, source: number): void => {
    if (waitingBytes + body.body.byteLength > maxWaitingBytes) unread.set(body.url, source);
    else {
      waiting.set(body.url, { body, source });
      waitingBytes += body.body.byteLength;
    }
  };

  /** @returns the number of resources to which something leads */
  const loadBatch = (bodies: readonly LoadableBody[], source: number): number => {
    let linked = 0;
    for (const [n, outcome] of load(bodies, source).entries()) {
      const body = bodies[n];
      if (body === undefined) continue;
      if (outcome === "unlinked") wait(body, source);
      else {
        linked++;
        settle(body.url, outcome, source);
      }
    }
    return linked;
  };

  const loadCollected = (): void => {
    if (batch.length > 0) loadBatch(batch, batchSource);
    [batch, batchBytes] = [[], 0];
  };

  const loadWaiting = (): void => {
    for (let linked = 1; linked > 0 && waiting.size > 0; ) {
      const all = [...waiting.values()];
      waiting.clear();
      waitingBytes = 0;
      linked = 0;
      for (const [source, bodies] of Map.groupBy(all, (one) => one.source))
        linked += loadBatch(
          bodies.map(({ body }) => body),
          source,
        );
    }
  };

  const flush = (): void => {
    loadCollected();
    loadWaiting();
  };

  return {
    async add({ readBody, ...resource }, source) {
      if (waiting.has(resource.url)) return;
      const isFull = batch.length >= batchSize || batchBytes >= maxBatchBytes;
      if (source !== batchSource || isFull) loadCollected();
      // A snapshot holds one kind after the other, each led to by those before it.
      if (resource.kind !== kind && waiting.size > 0 && 8 * batch.length >= batchSize) flush();
      kind = resource.kind;
      batchSource = source;
      const body = await readBody();
      batch.push({ ...resource, body });
      batchBytes += body.byteLength;
      const count = (countOfKind.get(kind) ?? 0) + 1;
      countOfKind.set(kind, count);
      if (count === firstOfKind) loadCollected();
    },
    settle,
    isSettled: (url) => settled.has(url),
    flush,
    beginAgain() {
      const isWorthwhile = unread.size > 0 && hasProgress;
      hasProgress = false;
      return isWorthwhile;
    },
    end() {
      const left = [...waiting].map(([url, { source }]) => [url, source] as const);
      for (const [url, source] of [...left, ...unread]) settle(url, "unlinked", source);
    },
  };
}
