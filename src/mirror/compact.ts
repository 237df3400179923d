/**
 * A mirror in as little room as it takes: without what no kept run has seen, every body compressed as well as can be, and no
 * unused space in the file.
 */
import { existsSync, statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Kinds } from "../../schema/kind.ts";
import { toMirrorError } from "./file/errors.ts";
import { listPoints } from "./points/resolve-point.ts";
import { type MirrorReader, readMirror } from "./reader.ts";
import { measurePrunable, type PrunableData } from "./runs/prune-runs.ts";
import { chooseRuns, type RetentionChoice, type RetentionPolicy } from "./runs/retention.ts";
import { type MirrorWriter, openMirrorWriter } from "./writer.ts";

export interface CompactOptions {
  readonly file: string;
  readonly kinds: Kinds;
  /** ISO 8601; told to whoever finds the mirror locked. */
  readonly openedAt: string;
  /** Which runs are remembered; unless told, all of them. */
  readonly keep?: RetentionPolicy;
  /** Ends it between two steps; what is compressed by then stays so. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CompactProgress) => void;
}

export type CompactProgress =
  | { readonly step: "compress"; readonly bodies: number; readonly of: number }
  | { readonly step: "vacuum" };

export interface CompactReport {
  readonly mirror: string;
  /** Of the file, with what is in its log. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Somebody reads the mirror as it was: its file is written anew by the next sync or compact after that. */
  readonly isStillRead: boolean;
  readonly bodies: {
    readonly count: number;
    /** As sent. */
    readonly bytes: number;
    readonly storedBytes: number;
  };
  /** Null without rules of what to keep. */
  readonly retention: RetentionReport | null;
}

/** The runs that can be shown, and what is, or would be, gone with those that are forgotten. */
export interface RetentionReport extends RetentionChoice {
  readonly removed: PrunableData;
}

/** What compacting by these rules would forget; writes nothing. @throws MirrorError */
export function previewRetention({ file, keep }: { file: string; keep: RetentionPolicy }): RetentionReport {
  return readMirror(file, ({ db }) => {
    const choice = chooseRuns(listPoints(db), keep);
    return { ...choice, removed: measurePrunable(db, idsOf(choice)) };
  });
}

/** @throws MirrorError, also `locked`; the signal's reason */
export async function compactMirror(options: CompactOptions): Promise<CompactReport> {
  const { file, keep, signal, onProgress = () => {} } = options;
  const identity = readMirror(file, (mirror) => mirror.identity);
  const bytesBefore = sizeOf(file);
  const mirror = await openMirrorWriter({ ...options, identity });
  try {
    const retention = keep === undefined ? null : forget(mirror, keep, options.openedAt);
    mirror.recompressAll();
    const count = mirror.countUncompressed();
    let bodies = 0;
    for (let looked = mirror.compressBatch(); looked > 0; looked = mirror.compressBatch()) {
      bodies += looked;
      onProgress({ step: "compress", bodies, of: count });
      await nextTurn();
      signal?.throwIfAborted();
    }
    onProgress({ step: "vacuum" });
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

function forget(mirror: MirrorWriter, keep: RetentionPolicy, at: string): RetentionReport {
  const choice = chooseRuns(listPoints(mirror.db), keep);
  const removed = choice.forget.length === 0 ? nothing : mirror.pruneRuns(idsOf(choice), at);
  return { ...choice, removed };
}

const nothing: PrunableData = { revisions: 0, bodies: 0, bytes: 0 };

const idsOf = ({ forget }: RetentionChoice) => forget.map(({ run }) => run);

function measureBodies({ db }: Pick<MirrorReader, "db">): CompactReport["bodies"] {
  const measured = db
    .prepare<[], CompactReport["bodies"]>(
      `select count(*) as count, coalesce(sum(size), 0) as bytes, coalesce(sum(length(body)), 0) as storedBytes from _content`,
    )
    .get();
  return measured ?? { count: 0, bytes: 0, storedBytes: 0 };
}

function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0);
}
