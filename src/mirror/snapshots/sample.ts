/**
 * The sample of a snapshot: some loaded resources that are fetched whole and compared. It is drawn by a seed that does not
 * exist before the snapshot is loaded, so that a forger cannot know which resources it has.
 */
import { hash } from "node:crypto";
import { type SqlBool, sql } from "kysely";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { idsIn, q } from "../queries/query-builder.ts";
import { isCurrent } from "./loaded.ts";

/** So many resources are fetched whole, by default. */
export const defaultSampleSize = 50;

/** Condition: the row of `_loaded as l` is part of a sample, and was not fetched yet. */
export const isPendingSample = () => sql<SqlBool>`(l.sampled = 1 and l.bytes_run is null and ${isCurrent()})`;

/**
 * Draws from the resources that were loaded from a snapshot since the beginning of a run.
 * @returns the number of drawn resources
 */
export function drawSample(
  db: Connection,
  draw: { snapshotId: number; sinceRun: number; seed: string; size: number },
): number {
  const select = prepare(db, (p: { snapshotId: number; sinceRun: number }) =>
    q
      .selectFrom("_loaded as l")
      .innerJoin("_resource as r", "r.id", "l.resource_id")
      .innerJoin("_revision as v", (join) =>
        join.onRef("v.resource_id", "=", "l.resource_id").onRef("v.seq", "=", "l.seq"),
      )
      .select(["r.id", "r.url"])
      .where("l.snapshot_id", "=", p.snapshotId)
      .where("v.to_run", "is", null)
      .where("l.bytes_run", "is", null)
      .where("l.sampled", "=", 0)
      .where("v.from_run", ">=", p.sinceRun),
  );
  const { snapshotId, sinceRun, seed, size } = draw;
  const drawn: { id: number; rank: string }[] = [];
  for (const { id, url } of select.iterate({ snapshotId, sinceRun })) {
    const rank = hash("sha256", seed + url);
    const last = drawn[size - 1];
    if (last !== undefined && rank >= last.rank) continue;
    drawn.push({ id, rank });
    drawn.sort((a, b) => (a.rank < b.rank ? -1 : 1));
    drawn.length = Math.min(drawn.length, size);
  }
  const ids = JSON.stringify(drawn.map(({ id }) => id));
  prepare(db, (p: { ids: string; snapshotId: number }) =>
    q
      .updateTable("_loaded")
      .set({ sampled: 1 })
      .where("snapshot_id", "=", p.snapshotId)
      .where("resource_id", "in", idsIn(p.ids)),
  ).run({ ids, snapshotId });
  // Without a validator, the service sends the whole body.
  prepare(db, (p: { ids: string }) =>
    q.updateTable("_resource").set({ etag: null }).where("id", "in", idsIn(p.ids)),
  ).run({ ids });
  prepare(db, (p: { snapshotId: number; seed: string; drawn: number }) =>
    q
      .updateTable("_snapshot")
      .set((eb) => ({ sample_seed: p.seed, sample_size: eb("sample_size", "+", p.drawn) }))
      .where("id", "=", p.snapshotId),
  ).run({ snapshotId, seed, drawn: drawn.length });
  return drawn.length;
}
