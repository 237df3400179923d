/** A mirror in a temporary folder, and crawls of it like those of a sync, with responses from memory. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kinds } from "../../../jobs/kinds.ts";
import { type CheckProblem, checkMirror } from "../../../src/mirror/check/check.ts";
import { prepareCycleWork } from "../../../src/mirror/check-cycle.ts";
import { makeMirror } from "../../../src/mirror/file/create-mirror.ts";
import { emptySummary, type IngestSummary } from "../../../src/mirror/ingest.ts";
import { type MirrorReader, openMirrorReader } from "../../../src/mirror/reader.ts";
import type { RunClosing } from "../../../src/mirror/runs/runs.ts";
import type { DueResource } from "../../../src/mirror/scope.ts";
import { type MirrorWriter, type OpenMirrorOptions, openMirrorWriter } from "../../../src/mirror/writer.ts";
import { kindsInScope } from "../../../src/sync/options.ts";
import { type CanonicalDump, canonicalDump } from "../../support/canonical-dump.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { baseUrl, resultFrom, type World } from "./world.ts";

/** New mirrors by identity: creating one takes longer than many tests. */
const newMirrors = new Map<string, Buffer>();

export interface MirrorRig extends AsyncDisposable {
  readonly folder: string;
  readonly file: string;
  /** Opens the mirror for writing; the rig closes it if the test does not. */
  write(more?: Partial<OpenMirrorOptions["identity"]>): Promise<MirrorWriter>;
  read<Result>(reading: (mirror: MirrorReader) => Result): Result;
}

/** @param makesItself lets the program create the mirror instead of copying one */
export async function startMirrorRig(
  url = baseUrl,
  { makesItself: createsMirror = false } = {},
): Promise<MirrorRig> {
  const { path: folder, ...disposable } = await temporaryFolder();
  const file = join(folder, "catalogue.sqlite");
  const writers: MirrorWriter[] = [];
  return {
    folder,
    file,
    async write(more = {}) {
      const identity = { baseUrl: url, area: "catalogue" as const, serviceName: "service", ...more };
      const options = { file, identity, kinds, openedAt: someTime };
      if (!createsMirror && !existsSync(file)) {
        const key = JSON.stringify(identity);
        const made = newMirrors.get(key) ?? (await makeNewMirror(options));
        newMirrors.set(key, made);
        writeFileSync(file, made);
      }
      const mirror = await openMirrorWriter(options);
      writers.push(mirror);
      return mirror;
    },
    read(reading) {
      const mirror = openMirrorReader(file);
      try {
        return reading(mirror);
      } finally {
        mirror.close();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const mirror of writers) if (mirror.db.open) mirror.close();
      await disposable[Symbol.asyncDispose]();
    },
  };
}

async function makeNewMirror(options: OpenMirrorOptions): Promise<Buffer> {
  await makeMirror(options);
  return readFileSync(options.file);
}

export const someTime = "2026-01-15T12:00:00.000Z";

export function beginRun(mirror: MirrorWriter): number {
  return mirror.beginRun({ startedAt: someTime, mode: "incremental", scope: { credential: "none" } });
}

export function closeRun(mirror: MirrorWriter, runId: number, approve = false): RunClosing {
  const { new: added, changed, unchanged, gone, failed } = emptySummary();
  const resources = { new: added, changed, unchanged, gone, failed };
  const counts = { requests: { sent: 1, counted: 0, notModified: 0 }, resources };
  return mirror.closeRun(runId, { endedAt: someTime, stopped: null, counts, approve });
}

export interface CrawlOptions {
  /** Names of optional links to follow. */
  readonly follow?: readonly string[];
  /** The next batch, in this order; default: all due resources. */
  readonly choose?: (due: readonly DueResource[]) => readonly DueResource[];
  /** The run ends after this number of batches; default: 1000. */
  readonly maxBatches?: number;
  /** Approves all noted absences. */
  readonly approve?: boolean;
  /** Called before the run closes. */
  readonly beforeClosing?: (runId: number) => void;
}

/** The sum of all batches, and the decisions about absences at the end. */
export interface CrawlResult extends IngestSummary, Omit<RunClosing, "gone"> {
  readonly runId: number;
  /** The requested URLs, in this order. */
  readonly requested: readonly string[];
}

/** One run that requests all due resources and checks all held ones. */
export function crawl(mirror: MirrorWriter, world: World, options: CrawlOptions = {}): CrawlResult {
  const { follow = [], choose = (due) => due, maxBatches = 1000 } = options;
  const runId = beginRun(mirror);
  mirror.addRoot(runId);
  mirror.beginCycle({ run: runId, mode: "verify" });
  mirror.recheckTombstones("9999", "9999");
  mirror.followLinks(follow, runId);
  const scope = { kinds: kindsInScope(kinds, mirror.identity.area, "sizes", follow), belowIds: null };
  const frontier = prepareCycleWork(mirror.db, scope, { run: runId, mode: "verify" });
  const summary = emptySummary();
  const requested: string[] = [];
  const failed = new Set<number>();
  for (let batches = 0; batches < maxBatches; batches++) {
    const due = frontier.take(10_000, (id) => failed.has(id));
    if (due.length === 0) break;
    const batch = choose(due);
    requested.push(...batch.map(({ url }) => url));
    const {
      failedIds,
      postponedIds: _,
      ...added
    } = mirror.ingest(
      batch.map((resource) => resultFrom(world, resource)),
      runId,
    );
    for (const id of failedIds) failed.add(id);
    for (const key of Object.keys(added) as (keyof typeof added)[]) summary[key] += added[key];
  }
  options.beforeClosing?.(runId);
  const closing = closeRun(mirror, runId, options.approve);
  return { ...summary, ...closing, gone: summary.gone + closing.gone, runId, requested };
}

export function problemsOf(mirror: MirrorReader): readonly CheckProblem[] {
  return checkMirror(mirror, kinds).problems;
}

/** The content of a new mirror after one crawl of this world, in the order of a sync. */
export async function dumpOfFreshCrawl(
  url: string,
  world: World,
  follow: readonly string[] = [],
): Promise<CanonicalDump> {
  await using rig = await startMirrorRig(url);
  const mirror = await rig.write();
  crawl(mirror, world, { follow });
  return canonicalDump(mirror);
}
