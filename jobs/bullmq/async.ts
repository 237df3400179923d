/** Looks once for all who ask within so long. What failed is looked at again. */
export function cacheFor<Value>(millis: number, look: () => Promise<Value>): () => Promise<Value> {
  let seen: Promise<Value> | null = null;
  let seenAt = 0;
  return () => {
    const now = performance.now();
    if (seen !== null && now - seenAt < millis) return seen;
    const looking = look();
    seen = looking;
    seenAt = now;
    looking.catch(() => {
      if (seen === looking) seen = null;
    });
    return looking;
  };
}

/**
 * Waits for something for so long at most, and gives it up then or where it fails: whoever ends, or looks, waits for nobody.
 * @returns null where it was given up
 */
export async function withTimeout<Value>(millis: number, work: () => Promise<Value>): Promise<Value | null> {
  const { promise: isOver, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, millis, null);
  const done = await Promise.race([work().catch(() => null), isOver]);
  clearTimeout(timer);
  return done;
}

/**
 * Gathers what is to be written, and writes it together: what comes while the writing before is under way, and, where that
 * costs nobody any time, what comes within a few milliseconds. Whatever fails is written again, in its order.
 */
export interface Batcher<Item> {
  /** Settled once it is written. */
  add(item: Item): Promise<void>;
}

export interface BatcherOptions<Item> {
  readonly write: (items: readonly Item[]) => Promise<unknown>;
  /** Items that are written together at most. */
  readonly most: number;
  /** For how many it is worth to wait a moment; asked when the first one has come. */
  readonly worthWaitingFor: () => number;
  /** Waits before the next attempt, or rejects to give up all that was gathered. */
  readonly onFailure: (error: unknown) => Promise<void>;
}

const waitMillis = 5;

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export function createBatcher<Item>({
  write,
  most,
  worthWaitingFor,
  onFailure,
}: BatcherOptions<Item>): Batcher<Item> {
  let waiting: Waiting<Item>[] = [];
  let isWriting = false;
  let wanted = Number.POSITIVE_INFINITY;
  let noteEnough: () => void = () => {};

  const enough = async (count: number): Promise<void> => {
    // What comes within the same turn of the event loop goes with it.
    await new Promise(setImmediate);
    if (waiting.length >= count) return;
    wanted = count;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMillis);
      noteEnough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    wanted = Number.POSITIVE_INFINITY;
  };

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      await enough(worthWaitingFor());
      const batch = waiting.slice(0, most);
      try {
        await write(batch.map(({ item }) => item));
      } catch (error) {
        try {
          await onFailure(error);
          continue;
        } catch (reason) {
          for (const { reject } of waiting.splice(0)) reject(reason);
          break;
        }
      }
      waiting = waiting.slice(batch.length);
      for (const { resolve } of batch) resolve();
    }
    isWriting = false;
  };

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (waiting.length >= wanted) noteEnough();
        if (!isWriting) void writeAll();
      });
    },
  };
}

/** Says each thing the first time only: what goes on for hours is worth one line. */
export function warnOnce(onWarning: (text: string) => void): (text: string) => void {
  const said = new Set<string>();
  return (text) => {
    if (said.has(text)) return;
    said.add(text);
    onWarning(text);
  };
}
