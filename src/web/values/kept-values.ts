/**
 * Values of a mirror that pages use again. Those that are slow on a large mirror come from a thread: a page gets the last one
 * while a newer one is computed, and waits only if there is none, or if it is too old. On a busy machine the thread may take
 * long: then a page waits for half a second, and shows the last one.
 */
import { setTimeout } from "node:timers/promises";
import type { MirrorReader } from "../../mirror/reader.ts";
import { isLocked } from "../../platform/process-lock.ts";
import { ledgerFileBeside } from "../../sync/rate-limit/store/ledger-file.ts";
import {
  computeSlowValue,
  type SlowArguments,
  type SlowName,
  type SlowValue,
  type ValueContext,
} from "./slow-values.ts";
import { createValuesThread } from "./values-client.ts";

export interface KeptValues {
  /** As `View.recent`. @param maxAgeMillis although the mirror has changed. Default: 5000 */
  recent<Value>(mirror: MirrorReader, key: string, compute: () => Value, maxAgeMillis?: number): Value;
  /** As `View.slow`. @throws PendingValue */
  slow<Name extends SlowName>(
    mirror: MirrorReader,
    name: Name,
    ...args: SlowArguments<Name>
  ): SlowValue<Name>;
  /** Of a large mirror, begins to compute what its first pages will need. */
  prepare(mirror: MirrorReader): void;
  /** Forgets all: the file is another one. */
  clear(): void;
  close(): void;
}

/** Thrown instead of a value that is being computed. The page is rendered again when it is there. */
export class PendingValue extends Error {
  readonly computed: Promise<unknown>;

  constructor(computed: Promise<unknown>) {
    super("the value is being computed");
    this.computed = computed;
  }
}

/** Calls `read` again while a value that it needs is being computed. */
export async function whenComputed<Result>(read: () => Result): Promise<Result> {
  for (;;) {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof PendingValue)) throw error;
      await error.computed;
    }
  }
}

interface Kept {
  readonly value: unknown;
  /** When it was computed: epoch milliseconds. */
  readonly at: number;
  /** Of the mirror. */
  readonly version: unknown;
  /** How long it took. */
  readonly millis: number;
}

/** Of a value, by the thread. */
interface Computation {
  /** When the value is kept. */
  readonly kept: Promise<void>;
  /** Whether a page has waited for it as long as it may. */
  isLate: boolean;
  /** The same as `kept`, or when a page has waited long enough. */
  keptOrLate(): Promise<void>;
  hasten(): void;
}

/** Of values that are kept although the mirror has changed. */
export const recentMillis = 5000;
/** Of values that depend on the time, too. */
const maxAgeMillis = 60_000;
/** Of values that are shown while newer ones are computed. */
const maxStale = { changedMillis: 60_000, unchangedMillis: 600_000, timesCost: 20 };
/** While a sync writes, the time between two computations of a value is 100 times its duration: a hundredth of a processor. */
const renewed = { timesCost: 100, maxMillis: 30_000 };
/** Of those that people watch. */
const watchedMillis: Partial<Record<SlowName, number>> = { progress: 1000 };
/** Those of the first page, and then those that take longest. */
const first = ["kinds", "coverage", "days", "ages", "forecast", "newest changes", "tables", "plan"] as const;
const maxKept = 200;
/** Any value of a smaller mirror takes less time than the start of a thread. */
const largeMirror = 10_000;

export interface KeptValuesOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Default: beside the mirror. */
  readonly ledgerFile?: string;
  /** The number of resources from which a thread computes slow values. Default: 10,000. */
  readonly threadFrom?: number;
  /** How long a page waits for a newer value than the last one. Default: 500. */
  readonly patienceMillis?: number;
}

export function createKeptValues({ now, ...options }: KeptValuesOptions): KeptValues {
  const { threadFrom = largeMirror, patienceMillis = 500 } = options;
  const contextOf = ({ file }: MirrorReader): ValueContext => ({
    now: now(),
    ledgerFile: options.ledgerFile ?? ledgerFileBeside(file),
  });
  const thread = createValuesThread();
  const kept = new Map<string, Kept>();
  const computing = new Map<string, Computation>();
  /** Values of an earlier file are not kept. */
  let generation = 0;

  const keep = (key: string, value: Kept) => {
    kept.delete(key);
    kept.set(key, value);
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  };
  /** It changes with every commit of another process that this connection sees. */
  const versionOf = ({ db }: MirrorReader): unknown => db.prepare("pragma data_version").pluck().get();
  const keyOf = ({ asOf }: MirrorReader, key: string) => `${asOf?.run ?? "now"} ${key}`;
  const isUpToDate = (value: Kept, version: unknown, changedMillis: number) =>
    now() - value.at < (value.version === version ? maxAgeMillis : changedMillis);
  const isRecent = (value: Kept, version: unknown) => {
    const { unchangedMillis, changedMillis, timesCost } = maxStale;
    const maxAge = value.version === version ? unchangedMillis : changedMillis + timesCost * value.millis;
    return now() - value.at < maxAge;
  };
  /** What a page needs to know several times, and what takes a third of a millisecond, is read once in a turn of the event loop. */
  let written: { readonly file: string; readonly isWritten: boolean } | null = null;
  const isWritten = (file: string): boolean => {
    if (written?.file === file) return written.isWritten;
    written = { file, isWritten: isLocked(file) };
    setImmediate(() => {
      written = null;
    });
    return written.isWritten;
  };
  /** A mirror that changes is shown a little late, and one that has changed as it is. */
  const isUsable = (value: Kept, version: unknown, { file }: MirrorReader) =>
    value.version === version || isWritten(file);

  const isDue = ({ at, millis }: Kept) =>
    now() - at >= Math.min(renewed.timesCost * millis, renewed.maxMillis);

  const recent: KeptValues["recent"] = (mirror, key, compute, maxChanged = recentMillis) => {
    const name = keyOf(mirror, key);
    const version = versionOf(mirror);
    const known = kept.get(name);
    if (known !== undefined && isUpToDate(known, version, maxChanged))
      return known.value as ReturnType<typeof compute>;
    const startedAt = performance.now();
    const value = compute();
    keep(name, { value, at: now(), version, millis: performance.now() - startedAt });
    return value;
  };

  const computeInThread = (key: string, mirror: MirrorReader, name: SlowName, args: readonly unknown[]) => {
    const known = computing.get(key);
    if (known !== undefined) return known;
    const [version, at, before] = [versionOf(mirror), now(), generation];
    const request = {
      file: mirror.file,
      run: mirror.asOf?.run ?? null,
      name,
      context: contextOf(mirror),
      args,
    };
    const { computed, hasten } = thread.compute(request);
    const kept = computed.then((result) => {
      computing.delete(key);
      if (generation !== before) return;
      if (result === null) failed.add(key);
      else keep(key, { ...result, at, version });
    });
    let patience: Promise<void> | null = null;
    const computation: Computation = {
      kept,
      isLate: false,
      keptOrLate() {
        patience ??= setTimeout(patienceMillis, undefined, { ref: false }).then(() => {
          computation.isLate = true;
        });
        return Promise.race([kept, patience]);
      },
      hasten,
    };
    computing.set(key, computation);
    return computation;
  };
  /** Their next values are computed here, which shows the error. */
  const failed = new Set<string>();

  return {
    recent,
    slow(mirror, name, ...args) {
      const ownKey = `${name} ${JSON.stringify(args)}`;
      const key = keyOf(mirror, ownKey);
      const compute = () => computeSlowValue(name, mirror, contextOf(mirror), args) as SlowValue<typeof name>;
      const maxChanged = watchedMillis[name] ?? recentMillis;
      if (failed.delete(key) || !isLarge(mirror, threadFrom))
        return recent(mirror, ownKey, compute, maxChanged);
      const version = versionOf(mirror);
      const known = kept.get(key);
      if (known !== undefined && isUpToDate(known, version, maxChanged))
        return known.value as SlowValue<typeof name>;
      const last = known !== undefined && isRecent(known, version) ? known : null;
      const usable = last !== null && isUsable(last, version, mirror) ? last : null;
      if (usable !== null && usable.version !== version && !(name in watchedMillis) && !isDue(usable))
        return usable.value as SlowValue<typeof name>;
      const computation = computeInThread(key, mirror, name, args);
      if (usable !== null) return usable.value as SlowValue<typeof name>;
      if (last !== null && computation.isLate) return last.value as SlowValue<typeof name>;
      computation.hasten();
      throw new PendingValue(last === null ? computation.kept : computation.keptOrLate());
    },
    prepare(mirror) {
      if (!isLarge(mirror, threadFrom)) return;
      for (const name of first) computeInThread(keyOf(mirror, `${name} []`), mirror, name, []);
    },
    clear() {
      generation++;
      for (const values of [kept, computing, failed]) values.clear();
    },
    close: thread.close,
  };
}

/** By the newest resource: counting them would take long. */
const isLarge = ({ db }: MirrorReader, threadFrom: number): boolean =>
  Number(db.prepare("select max(id) from _resource").pluck().get() ?? 0) >= threadFrom;
