/**
 * Stores bodies from a snapshot as an ingest stores those of responses, in one transaction a batch. Kinds come from the
 * mirror's own links. A snapshot proves neither that a resource exists nor that it is gone: that is left to later syncs.
 */

import type { Kinds } from "../../../schema/kind.ts";
import { isModificationTime, readHeldValidator } from "../../service/requests/headers.ts";
import type { BodyStore } from "../bodies/body-store.ts";
import type { Revisions } from "../bodies/revisions.ts";
import { isRefusal } from "../derive/derive.ts";
import { prepareStates } from "../derive/resource-states.ts";
import type { Resources } from "../derive/resources.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import type { StoreBody } from "../ingest.ts";
import { q } from "../queries/query-builder.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { SnapshotResource } from "../snapshots/snapshot-resource.ts";

export type LoadableBody = Omit<SnapshotResource, "readBody"> & { readonly body: Uint8Array };

/** What became of a resource of a snapshot. */
export type LoadOutcome =
  /** Stored as the first body, or as a tombstone. */
  | "new"
  /** Stored in place of an older body. */
  | "replaced"
  /** The mirror holds the same body. */
  | "same"
  /** The mirror holds one that is as new, or has found the resource gone since. */
  | "kept"
  /** Nothing that is held links to it. */
  | "unlinked"
  /** The links of the mirror give it another kind. */
  | "other-kind"
  /** The body is none of its kind. */
  | "rejected";

export interface LoadParts {
  readonly kinds: Kinds;
  readonly bodies: BodyStore;
  readonly resources: Resources;
  readonly revisions: Revisions;
  readonly storeBody: StoreBody;
  readonly search: SearchIndex;
}

export type LoadBodies = (
  batch: readonly LoadableBody[],
  snapshotId: number,
  runId: number,
) => readonly LoadOutcome[];

/** The day up to which a snapshot knows about a resource. */
export const knownUntil = ({ fetchedAt, goneAt }: Pick<SnapshotResource, "fetchedAt" | "goneAt">): string =>
  goneAt ?? fetchedAt;

export function prepareLoadBodies(db: Connection, parts: LoadParts): LoadBodies {
  const { kinds, bodies, resources, revisions, storeBody, search } = parts;
  const states = prepareStates(db);
  const statements = prepareStatements(db);

  const isTombstoneKind = (kind: string) =>
    kinds[kind]?.project !== undefined && kinds[kind].areas.includes("catalogue");

  /** Nothing links to a tombstone any more, so that only the snapshot can say what it was. */
  const findOrAdd = ({ url, kind, goneAt }: LoadableBody, runId: number) => {
    const known = resources.find(url);
    if (known !== undefined || goneAt === null || !isTombstoneKind(kind)) return known;
    resources.ensure(url, kind, null, runId);
    return resources.find(url);
  };

  const loadOne = (given: LoadableBody, snapshotId: number, runId: number): LoadOutcome => {
    const { body, status, headers, finalUrl, fetchedAt, goneAt } = given;
    const etag = validatorOf(given);
    const resource = findOrAdd(given, runId);
    if (resource === undefined || resource.state === "elsewhere" || resource.state === "superseded")
      return "unlinked";
    if (resource.kind !== given.kind) return "other-kind";
    const { id } = resource;
    const checkedAt = resource.lastCheckedRun === 0 ? null : statements.checkedAt.get({ id });
    const until = Date.parse(knownUntil(given));
    if (typeof checkedAt === "number" && checkedAt >= until) {
      const isNext = checkedAt === until && statements.isFromEarlier.get({ id, snapshotId }) !== undefined;
      if (!isNext) return "kept";
    }
    const compared = storeBody.compare(resource, body, given.sha256);
    const { last, isSame } = compared;
    const isLoaded = last !== undefined && statements.isUnconfirmed.get({ id, seq: last.seq }) !== undefined;
    // What the service itself has sent is not taken for gone, nor found again, because a snapshot says so.
    if (last !== undefined && !isLoaded && (goneAt !== null || last.sha256 === null)) return "kept";
    if (isSame && goneAt === null) return "same";
    if (!isSame) {
      const more = finalUrl === undefined ? {} : { finalUrl };
      storeBody.store(
        resource,
        { outcome: "body", status, etag, headers, fetchedAt, body, ...more },
        compared,
        runId,
      );
      statements.addLoaded.run({ id, snapshotId, etag, seq: (last?.seq ?? 0) + 1 });
    }
    if (goneAt !== null) {
      revisions.close(id, runId);
      states.setAbsent.run({ id, state: "gone", run: runId, at: Date.parse(goneAt) });
      statements.endUnfetchedBelow.run({ id, run: runId });
    }
    return last === undefined ? "new" : "replaced";
  };

  /** With a savepoint: a tombstone is added before its body is examined. */
  const loadTombstone = db.transaction(loadOne);
  const transaction = db.transaction(
    (batch: readonly LoadableBody[], snapshotId: number, runId: number): LoadOutcome[] => {
      storeBody.begin();
      const outcomes = batch.map((given) => {
        try {
          return (given.goneAt === null ? loadOne : loadTombstone)(given, snapshotId, runId);
        } catch (error) {
          // Rejected before anything was written.
          if (!isRefusal(error)) throw error;
          return "rejected";
        }
      });
      search.update(runId);
      return outcomes;
    },
  );
  return (batch, snapshotId, runId) => {
    bodies.makeDictionaries();
    return transaction.immediate(batch, snapshotId, runId);
  };
}

/** Null for one that a mirror would not have kept of a response of that day. */
function validatorOf({ etag, fetchedAt }: LoadableBody): string | null {
  const validator = readHeldValidator(etag);
  const isTime = validator !== null && isModificationTime(validator);
  return isTime && Date.parse(validator) >= Date.parse(fetchedAt) ? null : validator;
}

function prepareStatements(db: Connection) {
  return {
    checkedAt: prepareColumn(db, (p: { id: number }) =>
      q.selectFrom("_resource").select("checked_at").where("id", "=", p.id),
    ),
    isUnconfirmed: prepareColumn(db, (p: { id: number; seq: number }) =>
      q
        .selectFrom("_loaded")
        .select("seq")
        .where("resource_id", "=", p.id)
        .where("seq", "=", p.seq)
        .where("validator_run", "is", null)
        .where("bytes_run", "is", null),
    ),
    /** Whether what is held came from a snapshot with a lower number. Both may be of one day. */
    isFromEarlier: prepareColumn(db, (p: { id: number; snapshotId: number }) =>
      q
        .selectFrom("_loaded as l")
        .innerJoin("_snapshot as held", "held.id", "l.snapshot_id")
        .innerJoin("_snapshot as given", (join) => join.onRef("given.sequence", ">", "held.sequence"))
        .select("l.seq")
        .where("given.id", "=", p.snapshotId)
        .where("l.resource_id", "=", p.id)
        .where("l.validator_run", "is", null)
        .where("l.bytes_run", "is", null)
        .where((eb) =>
          eb(
            "l.seq",
            "=",
            eb
              .selectFrom("_revision as v")
              .select(({ fn }) => fn.max("v.seq").as("seq"))
              .where("v.resource_id", "=", p.id),
          ),
        ),
    ),
    addLoaded: prepare(db, (p: { id: number; seq: number; snapshotId: number; etag: string | null }) =>
      q
        .insertInto("_loaded")
        .values({ resource_id: p.id, seq: p.seq, snapshot_id: p.snapshotId, etag: p.etag }),
    ),
    // Only a tombstone led to them, so that a request would be in vain.
    endUnfetchedBelow: prepare(db, (p: { id: number; run: number }) =>
      q
        .updateTable("_resource")
        .set({ state: "gone", gone_run: p.run })
        .where("owner_id", "=", p.id)
        .where("state", "=", "due")
        .where("last_checked_run", "=", 0),
    ),
  };
}
