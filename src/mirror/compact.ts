/** Makes a mirror's file as small as possible: prunes runs, compresses all bodies again, and returns unused space. */
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Kinds } from "../../schema/kind.ts";
import { type ReadFreeBytes, requireFreeSpace, workingBytes } from "../platform/files/free-space.ts";
import { toMirrorError } from "./file/errors.ts";
import { prepare } from "./file/statements.ts";
import { listPoints } from "./points/resolve-point.ts";
import { q } from "./queries/query-builder.ts";
import { type MirrorReader, readMirror } from "./reader.ts";
import { readPassedOn } from "./runs/passed-on.ts";
import { measurePrunable, type PrunableData } from "./runs/prune-runs.ts";
import { chooseRuns, type RetentionChoice, type RetentionPolicy } from "./runs/retention.ts";
import { type MirrorWriter, openMirrorWriter } from "./writer.ts";

export interface CompactOptions {
  readonly file: string;
  /** `kinds` of this library. */
  readonly kinds: Kinds;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** Which runs are retained; default: all. */
  readonly keep?: RetentionPolicy;
  /** Cancels between two steps; bodies that are compressed by then stay compressed. */
  readonly signal?: AbortSignal;
  /** Called between two batches, and before the file is written anew. */
  readonly onProgress?: (progress: CompactProgress) => void;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
}

export type CompactProgress =
  | { readonly step: "compress"; readonly bodies: number; readonly of: number }
  | { readonly step: "vacuum" };

/** What compaction did. Sizes are in bytes. */
export interface CompactReport {
  /** The mirror's file. */
  readonly mirror: string;
  /** Of the file and its log. */
  readonly bytesBefore: number;
  /** As `bytesBefore`, after it. */
  readonly bytesAfter: number;
  /** A reader keeps the old file in use: the next sync or compaction afterwards replaces it. */
  readonly isStillRead: boolean;
  readonly bodies: {
    /** Stored bodies, also of former revisions. */
    readonly count: number;
    /** As sent. */
    readonly bytes: number;
    /** As they are stored, after compression. */
    readonly storedBytes: number;
  };
  /** Null without a retention policy. */
  readonly retention: RetentionReport | null;
}

/** The runs that are retained and pruned, and the data that pruning removes. */
export interface RetentionReport extends RetentionChoice {
  readonly removed: PrunableData;
}

/** What compaction with this policy would prune; changes nothing. @throws MirrorError */
export function previewRetention({ file, keep }: { file: string; keep: RetentionPolicy }): RetentionReport {
  return readMirror(file, ({ db }) => {
    const choice = chooseRuns(listPoints(db), keep, readPassedOn(db));
    return { ...choice, removed: measurePrunable(db, idsOf(choice)) };
  });
}

/**
 * Prunes runs by a retention policy, compresses bodies anew, and gives the free space back to the disk.
 * @throws MirrorError; FileError `locked`, `disk-full`; the signal's reason
 */
export async function compactMirror(options: CompactOptions): Promise<CompactReport> {
  const { file, keep, signal, onProgress = () => {} } = options;
  const requireSpace = (bytes: number) =>
    requireFreeSpace({ folder: dirname(file), bytes, purpose: "Compacting" }, options.readFreeBytes);
  const identity = readMirror(file, (mirror) => mirror.identity);
  requireSpace(workingBytes);
  const bytesBefore = sizeOf(file);
  const mirror = await openMirrorWriter({ ...options, identity, mustExist: true });
  try {
    const retention = keep === undefined ? null : prune(mirror, keep, options.openedAt);
    mirror.recompressAll();
    const count = mirror.countUncompressed();
    let bodies = 0;
    for (let batch = mirror.compressBatch(); batch > 0; batch = mirror.compressBatch()) {
      bodies += batch;
      onProgress({ step: "compress", bodies, of: count });
      await nextTurn();
      signal?.throwIfAborted();
    }
    onProgress({ step: "vacuum" });
    requireSpace(usedBytes(mirror));
    const isStillRead = !mirror.vacuum();
    return {
      mirror: file,
      bytesBefore,
      bytesAfter: sizeOf(file),
      isStillRead,
      bodies: measureBodies(mirror),
      retention,
    };
  } catch (error) {
    throw toMirrorError(error, file);
  } finally {
    mirror.close();
  }
}

/** The size of the file without unused pages: a copy of them is written. */
function usedBytes({ db }: Pick<MirrorReader, "db">): number {
  const read = (name: string) => Number(db.pragma(name, { simple: true }));
  return (read("page_count") - read("freelist_count")) * read("page_size");
}

function prune(mirror: MirrorWriter, keep: RetentionPolicy, at: string): RetentionReport {
  const choice = chooseRuns(listPoints(mirror.db), keep, readPassedOn(mirror.db));
  const removed = choice.prune.length === 0 ? noData : mirror.pruneRuns(idsOf(choice), at);
  return { ...choice, removed };
}

const noData: PrunableData = { revisions: 0, bodies: 0, bytes: 0 };

const idsOf = ({ prune }: RetentionChoice) => prune.map(({ run }) => run);

function measureBodies({ db }: Pick<MirrorReader, "db">): CompactReport["bodies"] {
  const totals = prepare(db, () =>
    q
      .selectFrom("_content")
      .select((eb) => [
        eb.fn.countAll<number>().as("count"),
        eb.fn.coalesce(eb.fn.sum<number>("size"), eb.lit(0)).as("bytes"),
        eb.fn.coalesce(eb.fn.sum<number>(eb.fn("length", ["body"])), eb.lit(0)).as("storedBytes"),
      ]),
  ).get();
  return totals ?? { count: 0, bytes: 0, storedBytes: 0 };
}

function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0);
}
