/**
 * Gathers what is to be written while the writing before is under way, and writes it together: one at a time is written at
 * once, a thousand within the same moment are few writings. Whatever fails is written again, in its order, until it works.
 */
export interface Gatherer<Item> {
  /** Settled once it is written. */
  add(item: Item): Promise<void>;
}

export interface GathererOptions<Item> {
  readonly write: (items: readonly Item[]) => Promise<unknown>;
  /** Items that are written together at most. */
  readonly most: number;
  /** Waits before the next attempt, or rejects to give up all that was gathered. */
  readonly onFailure: (error: unknown) => Promise<void>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export function gatherer<Item>({ write, most, onFailure }: GathererOptions<Item>): Gatherer<Item> {
  let waiting: Waiting<Item>[] = [];
  let isWriting = false;

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    // What comes within the same turn of the event loop goes with it.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
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
        if (!isWriting) void writeAll();
      });
    },
  };
}
