/** The statements of a load on an open mirror. They are prepared when they are needed: most runs load nothing. */
import type { Area } from "../../../schema/kind.ts";
import type { Absences } from "../absence/absences.ts";
import { preparePasses } from "../absence/listing-pass.ts";
import { prepareRevisions } from "../bodies/revisions.ts";
import type { DeriveContext } from "../derive/derive.ts";
import type { Links } from "../derive/links.ts";
import { prepareResources } from "../derive/resources.ts";
import { prepareDerivedWriter } from "../derive/write-derived.ts";
import type { Connection } from "../file/connection.ts";
import { prepareColumn } from "../file/statements.ts";
import { prepareStoreBody } from "../ingest.ts";
import { q } from "../queries/query-builder.ts";
import { storeCoverageAgain } from "../runs/coverage.ts";
import { closeRun, type RunClosing, type RunEnd } from "../runs/runs.ts";
import { removeCondemned } from "../snapshots/condemned.ts";
import { defaultSampleSize } from "../snapshots/sample.ts";
import type { SeenBy, SnapshotDescription } from "../snapshots/snapshot-resource.ts";
import { chooseValidators } from "../snapshots/validators.ts";
import { type LoadBodies, type LoadParts, prepareLoadBodies } from "./load-bodies.ts";
import { finishKilledLoads, finishSnapshots, recordSnapshot, type Sampling } from "./snapshot-rows.ts";

export interface LoadWrites {
  /** @returns the ids of the snapshots @throws SnapshotError `condemned` */
  recordSnapshots(descriptions: readonly SnapshotDescription[]): readonly number[];
  loadBodies: LoadBodies;
  /** Closes the run of a load. @returns also the number of resources in its samples */
  finish(
    runId: number,
    end: RunEnd,
    sampling: Omit<Sampling, "runId">,
  ): RunClosing & { readonly sampled: number };
}

export interface LoadTools extends Omit<LoadParts, "storeBody" | "revisions" | "resources"> {
  readonly context: DeriveContext;
  readonly area: Area;
  readonly links: Links;
  /** Makes a function write only while the mirror is locked. */
  readonly guard: <Args extends readonly unknown[], Result>(
    write: (...args: Args) => Result,
  ) => (...args: Args) => Result;
}

export function prepareLoadWrites(
  db: Connection,
  absences: Absences,
  { context, area, links, guard, ...tools }: LoadTools,
): LoadWrites {
  const passes = preparePasses(db, absences);
  const modeOf = prepareColumn(db, (p: { run: number }) =>
    q.selectFrom("_run").select("mode").where("id", "=", p.run),
  );
  // What a snapshot says is gone, no link of a snapshot brings back.
  const resources = prepareResources(db, tools.kinds, area, {
    revives: ({ goneRun }) => goneRun === null || modeOf.get({ run: goneRun }) !== "load",
  });
  const derivedWriter = prepareDerivedWriter(db, resources, links, tools.search);
  const storeBody = prepareStoreBody(db, tools.bodies, derivedWriter, context);
  const parts = { ...tools, resources, storeBody, revisions: prepareRevisions(db, tools.bodies) };
  return {
    recordSnapshots: guard((descriptions) =>
      db.transaction(() => descriptions.map((description) => recordSnapshot(db, description)))(),
    ),
    loadBodies: guard(prepareLoadBodies(db, parts)),
    finish: guard((runId, end, sampling) =>
      db.transaction(() => {
        const sampled = finishSnapshots(db, passes, { runId, ...sampling });
        return { ...closeRun(db, absences, runId, end), sampled };
      })(),
    ),
  };
}

/**
 * Prepares a run for what is loaded: removes condemned snapshots, completes killed loads, and
 * chooses the validators to send.
 */
export function settleSnapshots(
  db: Connection,
  absences: Absences,
  { area, context, kind }: { readonly area: Area; readonly context: DeriveContext; readonly kind: SeenBy },
): void {
  if (db.prepare("select 1 from _snapshot limit 1").get() === undefined) return;
  removeCondemned(db, { area, context, afterwards: () => storeCoverageAgain(db) });
  db.transaction(() => {
    finishKilledLoads(db, preparePasses(db, absences), defaultSampleSize);
    chooseValidators(db, kind);
  })();
}
