/**
 * Loads shared snapshots into a mirror: one run, whose bodies come from files instead of the service. In: verified sources.
 * Out: a mirror that holds the newest body of each resource, as unconfirmed, and a report. A killed load is continued by
 * the next one: what is held is skipped.
 */
import { existsSync } from "node:fs";
import type { Kinds } from "../../../schema/kind.ts";
import { dayMillis } from "../../platform/clock.ts";
import { requireWholeNumbers } from "../../platform/errors.ts";
import { snapshotResourceShape } from "../bookkeeping/row-shapes.ts";
import { removeEmptyMirror } from "../file/create-mirror.ts";
import { readMirror } from "../reader.ts";
import { defaultSampleSize } from "../snapshots/sample.ts";
import type {
  SnapshotDescription,
  SnapshotResource,
  SnapshotSource,
} from "../snapshots/snapshot-resource.ts";
import { type MirrorWriter, openMirrorWriter } from "../writer.ts";
import { createBatches } from "./batches.ts";
import { chooseNewest } from "./choose-newest.ts";
import { SnapshotError } from "./errors.ts";
import type { LoadOutcome } from "./load-bodies.ts";
import type { LoadWrites } from "./load-writes.ts";
import { scopeOfLoad } from "./loaded-snapshots.ts";

export interface LoadOptions {
  /** The mirror's file; created if missing. */
  readonly file: string;
  /** Parts of one service's catalogue, in any order. */
  readonly sources: readonly SnapshotSource[];
  /** `kinds` of this library. */
  readonly kinds: Kinds;
  /** Loads each of the sources in a run of its own, in their order, so that the mirror shows each state. Default: false. */
  readonly withHistory?: boolean;
  /** What the user says about the service. */
  readonly expected?: { readonly baseUrl?: string; readonly serviceName?: string };
  /** Resources of each snapshot to be fetched whole and compared by the next syncs. Default: 50. */
  readonly sampleSize?: number;
  /** Resources in one transaction; fewer if they are large. Default: 4096. */
  readonly batchSize?: number;
  /** The time, in epoch milliseconds. */
  readonly now: () => number;
  /** Ends it after the current batch; what is loaded by then stays, and its reason is thrown. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LoadProgress) => void;
}

export interface LoadProgress {
  /** Loaded so far. */
  readonly resources: number;
  /** All that are to be loaded. */
  readonly of: number;
}

export type LoadCounts = Readonly<Record<LoadOutcome, number>>;

/** What became of the resources of snapshots. */
export interface LoadReport {
  /** The mirror's file. */
  readonly mirror: string;
  /** The number of the run that loaded them. */
  readonly run: number;
  readonly snapshots: readonly (SnapshotDescription & { readonly resources: LoadCounts })[];
  /** Resources that the next syncs fetch whole and compare. */
  readonly sampled: number;
  /** From start to end. */
  readonly seconds: number;
}

/**
 * Loads snapshots into a mirror, in one run or in one for each. Whatever the mirror has fetched more recently stays.
 * @throws RangeError for an option out of its range; SnapshotError before anything is changed; MirrorError; FileError `locked`; errors of the sources; the signal's
 * reason
 */
export async function loadSnapshots(options: LoadOptions): Promise<LoadReport> {
  const { file, kinds, now, batchSize, sampleSize } = options;
  requireWholeNumbers(1, { batchSize });
  requireWholeNumbers(0, { sampleSize });
  const startedMillis = now();
  const openedAt = new Date(startedMillis).toISOString();
  const identity = requireOneService(options);
  const isNew = !existsSync(file);
  const mirror = await openMirrorWriter({ file, identity, kinds, openedAt });
  let isDone = false;
  try {
    const report = await load(mirror, options, openedAt);
    isDone = true;
    while (mirror.compressBatch() > 0);
    return { mirror: file, ...report, seconds: (now() - startedMillis) / 1000 };
  } finally {
    mirror.close();
    // It stays if anything was loaded.
    if (isNew && !isDone) removeEmptyMirror(file, openedAt);
  }
}

/** @throws SnapshotError `other-service` */
function requireOneService({ file, sources, expected = {}, now }: LoadOptions) {
  const descriptions = sources.map(({ description }) => description);
  const [first, ...others] = descriptions;
  if (first === undefined) throw new TypeError("nothing to load");
  const known = existsSync(file) ? readMirror(file, ({ identity }) => identity) : null;
  requireNoGap(file, descriptions);
  const identity = known ?? {
    baseUrl: new URL(expected.baseUrl ?? first.baseUrl).href,
    area: "catalogue" as const,
    serviceName: expected.serviceName ?? first.serviceName,
  };
  const refuse = (problem: string) => {
    throw new SnapshotError("other-service", problem, "Nothing was loaded.");
  };
  if (identity.area !== "catalogue")
    refuse(`A snapshot cannot be loaded into the mirror of an account: ${file}`);
  for (const { baseUrl, serviceName, takenOn, source } of [first, ...others]) {
    const whose = (given: string | undefined) =>
      known ? "this mirror's" : given === undefined ? "the first one's" : "the given";
    if (new URL(baseUrl).href !== identity.baseUrl)
      refuse(
        `The snapshot is of ${baseUrl}, and ${whose(expected.baseUrl)} service is ${identity.baseUrl}: ${source}`,
      );
    if (serviceName !== identity.serviceName)
      refuse(
        `The snapshot's service is named ${serviceName}, and ${whose(expected.serviceName)} is ${identity.serviceName}: ${source}`,
      );
    if (Date.parse(takenOn) > now() + dayMillis)
      refuse(`The snapshot is of the future (${takenOn}): ${source}`);
  }
  return identity;
}

/** @throws SnapshotError `gap` for an increment of a snapshot that is neither given nor loaded */
function requireNoGap(file: string, descriptions: readonly SnapshotDescription[]): void {
  const given = new Set(descriptions.map(({ rootHash }) => rootHash));
  const loaded = existsSync(file)
    ? readMirror(
        file,
        ({ db }) => new Set(db.prepare<[], string>("select root_hash from _snapshot").pluck().all()),
      )
    : new Set<string>();
  for (const { continues, source } of descriptions) {
    if (continues === undefined || given.has(continues) || loaded.has(continues)) continue;
    throw new SnapshotError(
      "gap",
      `This is an increment of another snapshot, which is not loaded (root hash ${continues}): ${source}`,
      "Load the whole snapshot before it and all increments since, together or in their order.",
    );
  }
}

type Loaded = Pick<LoadReport, "run" | "snapshots" | "sampled">;

async function load(mirror: MirrorWriter, options: LoadOptions, startedAt: string): Promise<Loaded> {
  const { sources, withHistory = false, sampleSize = defaultSampleSize } = options;
  const writes = mirror.loads();
  const snapshotIds = writes.recordSnapshots(sources.map(({ description }) => description));
  const layers = withHistory ? sources.map((source) => [source]) : [sources];
  const snapshots: LoadReport["snapshots"][number][] = [];
  let last: Pick<Loaded, "run" | "sampled"> = { run: 0, sampled: 0 };
  for (const [n, layer] of layers.entries()) {
    const isLast = n === layers.length - 1;
    // What later ones replace is not worth a request of the sample.
    const sampling = { snapshotIds: isLast ? snapshotIds : [], size: sampleSize };
    const ids = snapshotIds.slice(snapshots.length, snapshots.length + layer.length);
    const at = withHistory ? timeOfLayer(mirror, layer, startedAt) : null;
    const { counts, ...loaded } = await loadLayer(
      mirror,
      writes,
      { ...options, sources: layer },
      {
        ...{ startedAt: at ?? startedAt, endedAt: at, snapshotIds: ids, sampling },
      },
    );
    last = loaded;
    for (const [index, { description }] of layer.entries())
      snapshots.push({ ...description, resources: counts[index] ?? noCounts() });
  }
  return { ...last, snapshots };
}

/** The day of a snapshot, so that the mirror shows it as of that day; null if the mirror has a later run. */
function timeOfLayer({ db }: MirrorWriter, [source]: readonly SnapshotSource[], now: string): string | null {
  const latest = db.prepare<[], string | null>("select max(ended_at) from _run").pluck().get() ?? "";
  const takenOn = source?.description.takenOn ?? now;
  return takenOn >= latest && takenOn <= now ? takenOn : null;
}

interface Layer {
  readonly startedAt: string;
  /** Null for the time when it has ended. */
  readonly endedAt: string | null;
  readonly snapshotIds: readonly number[];
  readonly sampling: { readonly snapshotIds: readonly number[]; readonly size: number };
}

/** Loads snapshots in one run: of each resource, the newest body. */
async function loadLayer(
  mirror: MirrorWriter,
  writes: LoadWrites,
  options: LoadOptions,
  { startedAt, endedAt, snapshotIds, sampling }: Layer,
) {
  const { sources, kinds, now, signal } = options;
  const { batchSize = 4096, onProgress = () => {} } = options;
  const { origin } = new URL(mirror.identity.baseUrl);
  const shape = snapshotResourceShape(origin);
  const isSound = (resource: SnapshotResource, { takenOn }: SnapshotDescription) =>
    shape.safeParse(resource).success &&
    resource.fetchedAt <= takenOn &&
    (resource.goneAt === null || (resource.fetchedAt <= resource.goneAt && resource.goneAt <= takenOn));

  const newest = await chooseNewest(sources);
  const hasSynced = mirror.db.prepare("select 1 from _run where mode <> 'load' limit 1").get() !== undefined;
  const run = mirror.beginRun({
    startedAt,
    mode: "load",
    scope: scopeOfLoad(sources.map(({ description }) => description)),
  });
  mirror.addRoot(run);
  // A mirror that a user has filled follows the links that they chose.
  if (!hasSynced) mirror.followLinks(linksTo(kinds, newest.kinds), run);

  const ended = () => endedAt ?? new Date(now()).toISOString();
  const counts = sources.map(() => noCounts());
  let done = 0;
  const batches = createBatches(
    (batch, source) => writes.loadBodies(batch, snapshotIds[source] ?? 0, run),
    (outcome, source) => {
      const counted = counts[source];
      if (counted) counted[outcome]++;
      onProgress({ resources: ++done, of: newest.count });
    },
    batchSize,
  );
  try {
    do {
      for (const [index, source] of sources.entries()) {
        for await (const resource of source.resources()) {
          signal?.throwIfAborted();
          if (!newest.isFrom(resource.url, index) || batches.isSettled(resource.url)) continue;
          if (!isSound(resource, source.description)) batches.settle(resource.url, "rejected", index);
          else await batches.add(resource, index);
        }
      }
      batches.flush();
    } while (batches.beginAgain());
    batches.end();
  } catch (error) {
    const stopped = signal?.aborted ? "interrupted" : "error";
    try {
      writes.finish(run, endOf(counts, ended(), stopped), { ...sampling, snapshotIds });
    } catch {
      // The first error is reported. If the mirror cannot be written, the run cannot be closed either.
    }
    throw error;
  }
  const { sampled } = writes.finish(run, endOf(counts, ended(), null), sampling);
  return { run, sampled, counts };
}

/** The names of optional links that lead to resources of these kinds. */
function linksTo(kinds: Kinds, present: ReadonlySet<string>): string[] {
  const optional = Object.values(kinds).flatMap((kind) => Object.entries(kind.optional));
  const known = optional.filter(([, kind]) => present.has(kind)).map(([name]) => name);
  const unknown = [...present].filter((kind) => /^\?[^.]+$/.test(kind)).map((kind) => kind.slice(1));
  return [...new Set([...known, ...unknown])].sort();
}

const noCounts = (): Record<LoadOutcome, number> => ({
  ...{ new: 0, replaced: 0, same: 0, kept: 0, unlinked: 0 },
  ...{ "other-kind": 0, rejected: 0 },
});

function endOf(counts: readonly LoadCounts[], endedAt: string, stopped: "interrupted" | "error" | null) {
  const sum = (outcome: LoadOutcome) => counts.reduce((total, count) => total + count[outcome], 0);
  return {
    endedAt,
    stopped,
    approve: false,
    counts: {
      requests: { sent: 0, counted: 0, notModified: 0 },
      resources: {
        new: sum("new"),
        changed: sum("replaced"),
        unchanged: sum("same"),
        gone: 0,
        failed: sum("rejected"),
      },
    },
  };
}
