/** The rows of loaded snapshots: made when one is loaded, completed when its load has finished. */
import { randomBytes } from "node:crypto";
import type { Passes } from "../absence/listing-pass.ts";
import { endLeftPages } from "../absence/tombstones.ts";
import type { Connection } from "../file/connection.ts";
import { removeMeta } from "../file/meta.ts";
import { prepare, prepareColumn, type Statement } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { isCurrent, isUnconfirmed } from "../snapshots/loaded.ts";
import { drawSample } from "../snapshots/sample.ts";
import type { SnapshotDescription } from "../snapshots/snapshot-resource.ts";
import { SnapshotError } from "./errors.ts";

/** Also ends a cycle of checks, which does not cover what is loaded now. @returns its id @throws SnapshotError `condemned` */
export function recordSnapshot(db: Connection, description: SnapshotDescription): number {
  const { rootHash, takenOn, seenBy, source, signedBy, sequence } = description;
  const select = prepare(db, (p: { rootHash: string }) =>
    q
      .selectFrom("_snapshot")
      .select(["id", "condemned_at as condemnedAt", "condemned_by as condemnedBy"])
      .where("root_hash", "=", p.rootHash),
  );
  const known = select.get({ rootHash });
  if (known !== undefined && known.condemnedAt !== null)
    throw new SnapshotError(
      "condemned",
      `The service has contradicted this snapshot at ${known.condemnedBy}: ${source}`,
      "Load another one.",
    );
  for (const key of ["cycle_run", "cycle_mode"]) removeMeta(db, key);
  if (known !== undefined) return known.id;
  const insert = prepare(db, (p: typeof values) =>
    q.insertInto("_snapshot").values({
      root_hash: p.rootHash,
      taken_on: p.takenOn,
      seen_by: p.seenBy,
      source: p.source,
      signed_by: p.signedBy,
      sequence: p.sequence,
    }),
  );
  const values = { rootHash, takenOn, seenBy, source, signedBy, sequence };
  return Number(insert.run(values).lastInsertRowid);
}

export interface Sampling {
  /** The run of the load. */
  readonly runId: number;
  readonly snapshotIds: readonly number[];
  readonly size: number;
}

/** @returns the number of drawn resources */
export function finishSnapshots(
  db: Connection,
  passes: Passes,
  { runId, snapshotIds, size }: Sampling,
): number {
  // Here, so that the end of the run does not validate the listings that these pages belonged to.
  endLeftPages(db, runId);
  passes.postpone(selectUnconfirmedPages(db).all(), runId);
  // A killed load has drawn nothing of what it loaded.
  const undrawn = new Set(selectUndrawn(db).all());
  return snapshotIds
    .map((snapshotId) => {
      const sinceRun = undrawn.has(snapshotId) ? 0 : runId;
      return drawSample(db, { snapshotId, sinceRun, seed: newSeed(), size });
    })
    .reduce((sum, drawn) => sum + drawn, 0);
}

/** Completes loads that were killed. */
export function finishKilledLoads(db: Connection, passes: Passes, size: number): void {
  const snapshotIds = selectUndrawn(db).all();
  if (snapshotIds.length === 0) return;
  const runId = prepareColumn(db, () => q.selectFrom("_run").select(({ fn }) => fn.max("id").as("id"))).get();
  finishSnapshots(db, passes, { runId: runId ?? 0, snapshotIds, size });
}

function selectUnconfirmedPages(db: Connection): Statement<object, number> {
  return prepareColumn(db, () =>
    q
      .selectFrom("_page as p")
      .innerJoin("_loaded as l", "l.resource_id", "p.id")
      .select("p.id")
      .where(isUnconfirmed())
      .where(isCurrent()),
  );
}

function selectUndrawn(db: Connection): Statement<object, number> {
  return prepareColumn(db, () => q.selectFrom("_snapshot").select("id").where("sample_seed", "is", null));
}

const newSeed = () => randomBytes(16).toString("hex");
