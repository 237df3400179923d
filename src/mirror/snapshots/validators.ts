/**
 * Which validators of snapshots are sent. A service may give each kind of credential its own, or new ones with each of its
 * releases: a validator that would not be recognized makes a free check a counted request. The sample shows which it is.
 */
import { type SqlBool, sql } from "kysely";
import { isSameEntity } from "../../service/requests/headers.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { isCurrent } from "./loaded.ts";
import { isPendingSample } from "./sample.ts";
import type { SeenBy } from "./snapshot-resource.ts";

/** Before a sample has shown more, only validators that the same kind of credential has seen are sent. */
export function chooseValidators(db: Connection, kind: SeenBy): void {
  for (const { id, seenBy } of selectSnapshots(db)) {
    const proof = proofOf(db, id);
    const isUsed = proof === "unknown" ? seenBy === kind : proof === "same";
    setValidators(db, id, isUsed ? "used" : "withheld");
  }
}

/** To be called after a part of a sample was fetched: what it shows applies from now on. */
export function chooseProvenValidators(db: Connection): void {
  for (const { id } of selectSnapshots(db)) {
    const proof = proofOf(db, id);
    if (proof !== "unknown") setValidators(db, id, proof === "same" ? "used" : "withheld");
  }
}

function selectSnapshots(db: Connection): { id: number; seenBy: SeenBy }[] {
  return prepare(db, () => q.selectFrom("_snapshot").select(["id", "seen_by as seenBy"])).all();
}

/** Whether the service has sent the validators of the sample again; `unknown` until all of it is fetched. */
function proofOf(db: Connection, snapshotId: number): "unknown" | "same" | "other" {
  const pending = prepareColumn(db, (p: { snapshotId: number }) =>
    q
      .selectFrom("_loaded as l")
      .select("l.seq")
      .where("l.snapshot_id", "=", p.snapshotId)
      .where(isPendingSample())
      .limit(1),
  );
  if (pending.get({ snapshotId }) !== undefined) return "unknown";
  const etags = prepare(db, (p: { snapshotId: number }) =>
    q
      .selectFrom("_loaded as l")
      .innerJoin("_resource as r", "r.id", "l.resource_id")
      .select(["l.etag as loaded", "r.etag as sent"])
      .where("l.snapshot_id", "=", p.snapshotId)
      .where("l.sampled", "=", 1)
      .where("l.etag", "is not", null)
      // Another body with another validator was changed since. With the same one, the validator proves nothing.
      .where(sql<SqlBool>`iif(l.bytes_run is null, l.etag = r.etag, ${isCurrent()})`)
      .select(sql<0 | 1>`l.bytes_run is not null`.as("isSameBody")),
  ).all({ snapshotId });
  if (etags.length === 0) return "unknown";
  const same = etags.filter(
    ({ loaded, sent, isSameBody }) =>
      isSameBody === 1 && loaded !== null && sent !== null && isSameEntity(loaded, sent),
  );
  return 2 * same.length > etags.length ? "same" : "other";
}

function setValidators(db: Connection, snapshotId: number, validators: "used" | "withheld"): void {
  const { changes } = prepare(db, (p: { id: number; validators: "used" | "withheld" }) =>
    q
      .updateTable("_snapshot")
      .set({ validators: p.validators })
      .where("id", "=", p.id)
      .where("validators", "<>", p.validators),
  ).run({ id: snapshotId, validators });
  if (changes === 0) return;
  // Raw: an update from a joined table. The sample is fetched without validators.
  db.prepare<{ snapshotId: number; isUsed: 0 | 1 }>(
    `update _resource set etag = iif(:isUsed, l.etag, null) from _loaded l
     where l.snapshot_id = :snapshotId and l.resource_id = _resource.id and _resource.state = 'held'
       and l.bytes_run is null and l.validator_run is null and l.sampled = 0
       and exists (select 1 from _revision v
         where v.resource_id = l.resource_id and v.seq = l.seq and v.to_run is null)`,
  ).run({ snapshotId, isUsed: validators === "used" ? 1 : 0 });
}
