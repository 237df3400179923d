/**
 * Letting go of old backups, by the rules by which a mirror lets go of old runs. What cannot be proven sound is never
 * removed, since it may be all that is left of something, and never counts as what is kept; nor is what somebody gave a name
 * of her own, which she did to keep it.
 */
import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { chooseRuns, type RetentionPolicy } from "../mirror/runs/retention.ts";
import { syncFolder } from "../platform/folders.ts";
import { toReadingError } from "./container/open.ts";
import { countLinked } from "./contents/completeness.ts";
import { hasGivenName } from "./destination.ts";
import { type FaultyBackup, type ListRequest, lineOf, listBackups, type SoundBackup } from "./list.ts";

export interface PruneRequest extends ListRequest {
  readonly keep: RetentionPolicy;
  /** Removes nothing, and says what would be. */
  readonly isPreview: boolean;
}

export interface PruneReport {
  readonly folder: string;
  readonly isPreview: boolean;
  /** The newest of each line of mirrors is among them, whatever the rules, and so is what has a name that we would not give it. */
  readonly keep: readonly KeptBackup[];
  /** What is, or would be, removed. */
  readonly remove: readonly PrunedBackup[];
  readonly untouched: readonly FaultyBackup[];
}

export interface PrunedBackup {
  readonly file: string;
  readonly bytes: number;
  /** When its state was reached; ISO 8601, UTC. */
  readonly at: string;
}

export interface KeptBackup extends PrunedBackup {
  /** `latest`, a rule and its period, `highest run`, `what the bras are`, or `name`. */
  readonly reasons: readonly string[];
}

/** @throws BackupError; the signal's reason */
export async function pruneBackups(request: PruneRequest): Promise<PruneReport> {
  const { folder, keep: policy, isPreview } = request;
  const sound: SoundBackup[] = [];
  const named: KeptBackup[] = [];
  const untouched: FaultyBackup[] = [];
  for await (const backup of listBackups(request)) {
    if (!backup.isSound) untouched.push(backup);
    else if (hasGivenName(basename(backup.file))) sound.push(backup);
    else named.push({ ...summaryOf(backup), reasons: ["name"] });
  }
  const choices = [...Map.groupBy(sound, ({ manifest }) => lineOf(manifest)).values()].map((backups) =>
    choose(backups, policy),
  );
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
 * Those of one line of mirrors, numbered by the times of their states. The one of the highest run is kept as well as the latest: a
 * clock may have been wrong once, and a restored mirror counts its runs from an earlier one on. So is the last one with the most of what
 * the bras are: on a new computer, where no catalogue is mirrored yet, backups have nothing of it.
 */
function choose(backups: readonly SoundBackup[], policy: RetentionPolicy) {
  const ordered = backups.toSorted((one, other) => compare(one.manifest.state, other.manifest.state));
  const choice = chooseRuns(
    ordered.map(({ manifest }, n) => ({ run: n, endedAt: manifest.state.at })),
    policy,
  );
  const runs = ordered.map(({ manifest }) => manifest.state.run);
  const highest = runs.lastIndexOf(runs.reduce((one, other) => Math.max(one, other), 0));
  const linked = ordered.map(({ manifest }) => countLinked(manifest));
  const most = Math.max(0, ...linked);
  const richest = most === 0 ? -1 : linked.lastIndexOf(most);
  const reasonsToSpare = (n: number) => [
    ...(n === highest ? ["highest run"] : []),
    ...(n === richest ? ["what the bras are"] : []),
  ];
  const at = (n: number): PrunedBackup[] => ordered.slice(n, n + 1).map(summaryOf);
  const spared = choice.forget
    .map(({ run }) => ({ run, reasons: reasonsToSpare(run) }))
    .filter(({ reasons }) => reasons.length > 0);
  return {
    keep: [...choice.keep, ...spared].flatMap(({ run, reasons }) =>
      at(run).map((backup) => ({ ...backup, reasons })),
    ),
    remove: choice.forget.flatMap(({ run }) => (reasonsToSpare(run).length === 0 ? at(run) : [])),
  };
}

const summaryOf = ({ file, bytes, manifest }: SoundBackup): PrunedBackup => ({
  file,
  bytes,
  at: manifest.state.at,
});

function compare(one: SoundBackup["manifest"]["state"], other: SoundBackup["manifest"]["state"]): number {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return one.run - other.run;
}
