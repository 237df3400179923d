/**
 * Records what a response says about a body from a snapshot: the service confirmed its validator, sent the same body, or
 * sent another one. Another body under the same tag condemns the snapshot. Runs inside the transaction of a batch.
 */
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { isModificationTime, isSameEntity } from "../../service/requests/headers.ts";
import { prepareReadBody, storedBodyColumns } from "../bodies/read-body.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { prepareHasLoaded } from "./loaded.ts";
import { chooseProvenValidators } from "./validators.ts";

export interface SentBody {
  readonly url: string;
  /** The held revision. */
  readonly seq: number;
  readonly body: Uint8Array;
  readonly etag: string | null;
  /** ISO 8601, UTC. */
  readonly fetchedAt: string;
}

/** `contradiction`: another body under the validator that the snapshot states. */
export type Difference = "none" | "difference" | "contradiction";

export interface Confirmations {
  /** To be called before each batch. */
  begin(): void;
  /** The service confirmed the validator of the current revision. */
  noteValidator(resourceId: number, runId: number): void;
  /** The service sent the body of the current revision. */
  noteSame(resourceId: number, seq: number, runId: number): void;
  /** The service sent another body. */
  noteOther(resourceId: number, sent: SentBody): Difference;
  /** To be called after each batch. */
  end(): void;
}

export function prepareConfirmations(db: Connection): Confirmations {
  let statements: Statements | null = null;
  const hasLoaded = prepareHasLoaded(db);
  const readBody = prepareReadBody(db);
  let isAny = false;
  let hasSampled = false;
  return {
    begin() {
      // Usually nothing is loaded: then one query a batch is all that this costs.
      isAny = hasLoaded();
      if (isAny) statements ??= prepareStatements(db);
      hasSampled = false;
    },
    noteValidator(resourceId, run) {
      if (isAny) statements?.noteValidator.run({ resourceId, run });
    },
    noteSame(resourceId, seq, run) {
      if (isAny && statements?.noteBytes.get({ resourceId, seq, run }) === 1) hasSampled = true;
    },
    noteOther(resourceId, { url, seq, body, etag, fetchedAt }) {
      const held = isAny ? statements?.select.get({ resourceId, seq }) : undefined;
      if (held === undefined) return "none";
      const { snapshotId, etag: loadedEtag, sampled, ...stored } = held;
      if (sampled === 1) hasSampled = true;
      // The times of a service have a resolution of a second: only a tag names one content.
      const isSameTag =
        loadedEtag !== null && etag !== null && isSameEntity(loadedEtag, etag) && !isModificationTime(etag);
      if (!isSameTag || isSameValue(readBody(stored), body)) return "difference";
      statements?.condemn.run({ snapshotId, at: fetchedAt, url });
      return "contradiction";
    },
    end() {
      if (hasSampled) chooseProvenValidators(db);
    },
  };
}

/** A weak tag stands for bodies that mean the same, so that order and spaces may differ. */
function isSameValue(held: Buffer, sent: Uint8Array): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(held.toString()), JSON.parse(Buffer.from(sent).toString()));
  } catch {
    return false;
  }
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(db: Connection) {
  return {
    noteValidator: prepare(db, (p: { resourceId: number; run: number }) =>
      q
        .updateTable("_loaded")
        .set({ validator_run: p.run })
        .where("resource_id", "=", p.resourceId)
        .where("validator_run", "is", null)
        .where("bytes_run", "is", null)
        .where(
          "seq",
          "=",
          sql<number>`(select max(seq) from _revision v where v.resource_id = ${p.resourceId})`,
        ),
    ),
    /** Returns whether the resource is part of a sample. */
    noteBytes: prepareColumn(db, (p: { resourceId: number; seq: number; run: number }) =>
      q
        .updateTable("_loaded")
        .set({ bytes_run: p.run })
        .where("resource_id", "=", p.resourceId)
        .where("seq", "=", p.seq)
        .where("bytes_run", "is", null)
        .returning("sampled"),
    ),
    select: prepare(db, (p: { resourceId: number; seq: number }) =>
      q
        .selectFrom("_loaded as l")
        .innerJoin("_revision as v", (join) =>
          join.onRef("v.resource_id", "=", "l.resource_id").onRef("v.seq", "=", "l.seq"),
        )
        .innerJoin("_content as c", "c.id", "v.content_id")
        .select(["l.snapshot_id as snapshotId", "l.etag", "l.sampled"])
        .select(storedBodyColumns)
        .where("l.resource_id", "=", p.resourceId)
        .where("l.seq", "=", p.seq)
        // A body that the service has sent itself says nothing against the snapshot.
        .where("l.bytes_run", "is", null),
    ),
    condemn: prepare(db, (p: { snapshotId: number; at: string; url: string }) =>
      q
        .updateTable("_snapshot")
        .set({ condemned_at: p.at, condemned_by: p.url })
        .where("id", "=", p.snapshotId)
        .where("condemned_at", "is", null),
    ),
  };
}
