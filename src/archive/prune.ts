/**
 * Removes old backups by the retention policy of runs. A backup that is not proven sound is never removed, and never counts as
 * kept. A backup with a name that the user chose, or gave it later, is never removed either.
 */
import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { chooseRuns, type RetentionPolicy } from "../mirror/runs/retention.ts";
import { syncFolder } from "../platform/folders.ts";
import { toReadingError } from "./container/open.ts";
import { countLinked } from "./contents/completeness.ts";
import { hasDefaultName } from "./destination.ts";
import { type FaultyBackup, type ListRequest, listBackups, mirrorOf, type SoundBackup } from "./list.ts";

export interface PruneRequest extends ListRequest {
  /** How many backups each rule keeps, of each mirror. */
  readonly keep: RetentionPolicy;
  /** Only reports what would be removed. */
  readonly isPreview: boolean;
}

/** What pruning backups removed or would remove. Sizes are in bytes. */
export interface PruneReport {
  readonly folder: string;
  readonly isPreview: boolean;
  /** Always includes the newest backup of each mirror, and backups with names that the user chose. */
  readonly keep: readonly KeptBackup[];
  /** Removed; or, in a preview, to be removed. */
  readonly remove: readonly PrunedBackup[];
  /** Files that are no sound backups. */
  readonly untouched: readonly FaultyBackup[];
}

export interface PrunedBackup {
  /** The absolute path. */
  readonly file: string;
  readonly bytes: number;
  /** When the last run in it ended; ISO 8601, UTC. */
  readonly at: string;
}

export interface KeptBackup extends PrunedBackup {
  /** `latest`, also of its copies; a rule and its period, `highest run`, `most catalogue resources`, or `name`. */
  readonly reasons: readonly string[];
}

/**
 * Removes the backups of a folder that no rule keeps. Files that are no sound backups stay.
 * @throws BackupError; the signal's reason
 */
export async function pruneBackups(request: PruneRequest): Promise<PruneReport> {
  const { folder, keep: policy, isPreview } = request;
  const sound: SoundBackup[] = [];
  const named: KeptBackup[] = [];
  const untouched: FaultyBackup[] = [];
  for await (const backup of listBackups(request)) {
    if (!backup.isSound) untouched.push(backup);
    else if (hasDefaultName(basename(backup.file), backup.manifest)) sound.push(backup);
    else named.push({ ...summaryOf(backup), reasons: ["name"] });
  }
  const groups = Map.groupBy(sound, ({ manifest }) => mirrorOf(manifest));
  const choices = [...groups.values()].map((backups) => chooseBackups(backups, policy));
  const remove = choices.flatMap((choice) => choice.remove);
  if (!isPreview && remove.length > 0) {
    try {
      for (const { file } of remove) await rm(file);
      syncFolder(folder);
    } catch (error) {
      throw toReadingError(error, folder);
    }
  }
  const kept = choices.flatMap((choice) => choice.keep);
  return { folder, isPreview, keep: [...kept, ...named], remove, untouched };
}

/**
 * Chooses among the backups of one mirror, by the times of their states. Kept besides:
 * - the backup of the highest run: a clock may have been wrong, and a restored mirror counts on from an earlier run;
 * - copies of the latest backup, such as an encrypted one: no later backup has what they have;
 * - the last backup with the most catalogue resources: on a new computer, backups hold none until a catalogue is mirrored.
 */
function chooseBackups(backups: readonly SoundBackup[], policy: RetentionPolicy) {
  const ordered = backups.toSorted((a, b) => compareStates(a.manifest.state, b.manifest.state));
  const choice = chooseRuns(
    ordered.map(({ manifest }, n) => ({ run: n, endedAt: manifest.state.at })),
    policy,
  );
  const runs = ordered.map(({ manifest }) => manifest.state.run);
  const highestRunAt = runs.lastIndexOf(Math.max(0, ...runs));
  const linkedCounts = ordered.map(({ manifest }) => countLinked(manifest));
  const maxLinked = Math.max(0, ...linkedCounts);
  const mostLinkedAt = maxLinked === 0 ? -1 : linkedCounts.lastIndexOf(maxLinked);
  const latestHash = ordered.at(-1)?.rootHash;
  const extraReasons = (n: number) => [
    ...(ordered[n]?.rootHash === latestHash ? ["latest"] : []),
    ...(n === highestRunAt ? ["highest run"] : []),
    ...(n === mostLinkedAt ? ["most catalogue resources"] : []),
  ];
  const summaryAt = (n: number): PrunedBackup[] => ordered.slice(n, n + 1).map(summaryOf);
  const spared = choice.prune
    .map(({ run }) => ({ run, reasons: extraReasons(run) }))
    .filter(({ reasons }) => reasons.length > 0);
  return {
    keep: [...choice.keep, ...spared].flatMap(({ run, reasons }) =>
      summaryAt(run).map((backup) => ({ ...backup, reasons })),
    ),
    remove: choice.prune.flatMap(({ run }) => (extraReasons(run).length === 0 ? summaryAt(run) : [])),
  };
}

const summaryOf = ({ file, bytes, manifest }: SoundBackup): PrunedBackup => ({
  file,
  bytes,
  at: manifest.state.at,
});

type State = SoundBackup["manifest"]["state"];

function compareStates(a: State, b: State): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  return a.run - b.run;
}
