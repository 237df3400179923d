/**
 * Reads for people what is in Redis, where a stranger may have written anything. In: names of keys and queues. Out: the entries
 * of a usual size and form, and how many others there are.
 */
import type { Job, JobType, Queue } from "bullmq";
import type { Redis } from "ioredis";
import { z } from "zod";

export interface Entries<Entry> {
  readonly entries: readonly Entry[];
  /** How many cannot be read. */
  readonly unreadable: number;
}

/** Epoch milliseconds that a date can have. */
export const timeMillis = z.number().min(0).max(8.64e15);

const isTime = (value: unknown): boolean => timeMillis.safeParse(value).success;

/** Null for text that is no finite number. */
export function readNumber(text: string | undefined): number | null {
  const value = Number(text);
  return text === undefined || text.trim() === "" || !Number.isFinite(value) ? null : value;
}

/** Null for text that is no time in epoch milliseconds. */
export function readTime(text: string | undefined): number | null {
  const value = readNumber(text);
  return isTime(value) ? value : null;
}

/** Larger ones are not ours: the largest are a hundredth of this. */
const maxEntryBytes = 256 * 1024;

async function isUsual(client: Redis, key: string): Promise<boolean> {
  return ((await client.memory("USAGE", key, "SAMPLES", 0)) ?? 0) <= maxEntryBytes;
}

/** Reads each on its own. @param read returns null for an entry that is gone by now */
export async function readEach<Item, Entry>(
  items: readonly Item[],
  read: (item: Item) => Promise<Entry | null>,
): Promise<Entries<Entry>> {
  const results = await Promise.allSettled(items.map(read));
  const entries = results.flatMap((result) =>
    result.status === "rejected" || result.value === null ? [] : [result.value],
  );
  return { entries, unreadable: results.filter(({ status }) => status === "rejected").length };
}

/** The keys with these names. @param read throws if the value of the key has another form */
export function readKeys<Entry>(
  client: Redis,
  names: readonly string[],
  read: (name: string) => Promise<Entry | null>,
): Promise<Entries<Entry>> {
  return readEach(names, async (name) => {
    if (!(await isUsual(client, name))) throw new RangeError(`${name} is too large`);
    return await read(name);
  });
}

/** At most so many jobs of each state, the newest first. */
export async function readJobs(
  client: Redis,
  queue: Queue,
  states: JobType[],
  maxJobs: number,
): Promise<Entries<Job>> {
  const ids = await queue.getRanges(states, 0, maxJobs - 1).catch(() => null);
  // The list of jobs is not one.
  if (ids === null) return { entries: [], unreadable: 1 };
  const keys = new Map(ids.map((id) => [queue.toKey(id), id]));
  return await readKeys(client, [...keys.keys()], async (key) => {
    const job = (await queue.getJob(keys.get(key) ?? "")) ?? null;
    if (job === null) return null;
    const { timestamp, processedOn = 0, finishedOn = 0 } = job;
    if (![timestamp, processedOn, finishedOn].every(isTime)) throw new RangeError("no time");
    return job;
  });
}

/** The entries of several readings, in their order. */
export function joinEntries<Entry>(all: readonly Entries<Entry>[]): Entries<Entry> {
  return {
    entries: all.flatMap(({ entries }) => entries),
    unreadable: all.reduce((sum, { unreadable }) => sum + unreadable, 0),
  };
}
