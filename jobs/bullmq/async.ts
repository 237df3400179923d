/** @returns the value of the last call of `load` if that was less than `millis` ago; failed calls are not cached */
export function cacheFor<Value>(millis: number, load: () => Promise<Value>): () => Promise<Value> {
  let cached: Promise<Value> | null = null;
  let loadedAt = 0;
  return () => {
    const now = performance.now();
    if (cached !== null && now - loadedAt < millis) return cached;
    const loading = load();
    cached = loading;
    loadedAt = now;
    loading.catch(() => {
      if (cached === loading) cached = null;
    });
    return loading;
  };
}

/** @returns null after the timeout, or if the work fails; the work itself continues */
export async function withTimeout<Value>(millis: number, work: () => Promise<Value>): Promise<Value | null> {
  const { promise: timedOut, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, millis, null);
  const result = await Promise.race([work().catch(() => null), timedOut]);
  clearTimeout(timer);
  return result;
}

/** Passes each text on only once: a problem that lasts for hours is worth one line. */
export function warnOnce(onWarning: (text: string) => void): (text: string) => void {
  const reported = new Set<string>();
  return (text) => {
    if (reported.has(text)) return;
    reported.add(text);
    onWarning(text);
  };
}

/**
 * Writes items in batches, in order. A batch has the items that arrived during the previous write, and those of the
 * next few milliseconds if a larger batch is worth the delay. A failed batch is written again.
 */
export interface Batcher<Item> {
  /** Resolves once the item is written. */
  add(item: Item): Promise<void>;
}

export interface BatcherOptions<Item> {
  readonly write: (items: readonly Item[]) => Promise<unknown>;
  /** In one batch. */
  readonly maxItems: number;
  /** Of the items in one batch, together; a larger item is written alone. Default: any size. */
  readonly maxSize?: number;
  readonly sizeOf?: (item: Item) => number;
  /** The number of items for which a batch waits a few milliseconds; called when its first item is there. */
  readonly targetItems: () => number;
  /** Waits before the next attempt; if it rejects, all pending items are rejected. */
  readonly onFailure: (error: unknown) => Promise<void>;
}

const maxWaitMillis = 5;

interface PendingItem<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export function createBatcher<Item>({
  write,
  maxItems,
  maxSize = Number.POSITIVE_INFINITY,
  sizeOf = () => 0,
  targetItems,
  onFailure,
}: BatcherOptions<Item>): Batcher<Item> {
  let pending: PendingItem<Item>[] = [];
  let isWriting = false;
  let awaitedCount = Number.POSITIVE_INFINITY;
  let stopWaiting: () => void = () => {};

  const waitForItems = async (count: number): Promise<void> => {
    // Items of the same turn of the event loop belong to the same batch.
    await new Promise(setImmediate);
    if (pending.length >= count) return;
    awaitedCount = count;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, maxWaitMillis);
      stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    awaitedCount = Number.POSITIVE_INFINITY;
  };

  const takeBatch = (): PendingItem<Item>[] => {
    let size = 0;
    const end = pending.findIndex(({ item }, n) => {
      size += sizeOf(item);
      return n === maxItems || (n > 0 && size > maxSize);
    });
    return end === -1 ? [...pending] : pending.slice(0, end);
  };

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (pending.length > 0) {
      await waitForItems(targetItems());
      const batch = takeBatch();
      try {
        await write(batch.map(({ item }) => item));
      } catch (error) {
        try {
          await onFailure(error);
          continue;
        } catch (reason) {
          for (const { reject } of pending.splice(0)) reject(reason);
          break;
        }
      }
      pending = pending.slice(batch.length);
      for (const { resolve } of batch) resolve();
    }
    isWriting = false;
  };

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        pending.push({ item, resolve, reject });
        if (pending.length >= awaitedCount) stopWaiting();
        if (!isWriting) void writeAll();
      });
    },
  };
}
