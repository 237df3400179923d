/**
 * The only writer of what was fetched. In: a batch of results. Out: one transaction that holds their revisions, rows,
 * links and states together, or nothing of them. It knows neither where results come from nor what is asked next.
 */

import { hash } from "node:crypto";
import { parseJsonBytesOrThrow } from "../../schema/json.ts";
import type { ResourceState } from "../../schema/tables.ts";
import type { FetchedBody, FetchResult } from "../service/fetch-result.ts";
import { type Absences, markLastSeenSql } from "./absence/absences.ts";
import { preparePasses } from "./absence/listing-pass.ts";
import type { BodyStore } from "./bodies/body-store.ts";
import { type DeriveContext, deriveOrThrow, isRefusal } from "./derive/derive.ts";
import type { DerivedWriter } from "./derive/write-derived.ts";
import type { Connection } from "./file/connection.ts";

/**
 * What a batch did, by resource. `gone` are those that were never held; what was held is only noted as absent, which is
 * decided when the run closes. `discovered` are resources that nothing had led to before.
 */
export interface IngestSummary {
  new: number;
  changed: number;
  unchanged: number;
  gone: number;
  failed: number;
  discovered: number;
  /** The resources that failed. */
  failedIds: number[];
}

export const emptySummary = (): IngestSummary => ({
  new: 0,
  changed: 0,
  unchanged: 0,
  gone: 0,
  failed: 0,
  discovered: 0,
  failedIds: [],
});

interface StoredResource {
  readonly id: number;
  readonly url: string;
  readonly kind: string;
  readonly ownerId: number | null;
  readonly state: ResourceState;
  readonly etag: string | null;
  /** Since when it is gone; null for what is there, or was never looked for. */
  readonly goneRun: number | null;
  /** 0 before the first answer of any kind. */
  readonly checkedRun: number;
}

interface LastRevision {
  readonly seq: number;
  /** Null when the revision was closed: what it held is gone. */
  readonly sha256: Buffer | null;
}

/** The result of fetching a known resource. */
export type ResourceResult = FetchResult & { readonly resourceId: number };

export type Ingest = (results: readonly ResourceResult[], runId: number) => IngestSummary;

/** Draws conclusions from a stored batch, in its transaction. */
export type ResolveAbsences = (
  results: readonly ResourceResult[],
  summary: IngestSummary,
  runId: number,
) => void;

export function prepareIngest(
  db: Connection,
  bodies: BodyStore,
  writer: DerivedWriter,
  context: DeriveContext,
  judgeBatch: ResolveAbsences,
): Ingest {
  const selectResource = db.prepare<[number], StoredResource>(
    `select id, url, kind, owner_id as ownerId, state, etag, gone_run as goneRun, checked_run as checkedRun from _resource where id = ?`,
  );
  const selectLastRevision = db.prepare<[number], LastRevision>(
    `select v.seq, iif(v.to_run is null, c.sha256, null) as sha256
     from _revision v join _content c on c.id = v.content_id
     where v.resource_id = ? order by v.seq desc limit 1`,
  );
  const insertRevision = db.prepare(
    `insert into _revision (resource_id, seq, content_id, from_run, status, fetched_at, base_url)
     values (?, ?, ?, ?, ?, ?, ?)`,
  );
  const setSeen = db.prepare(markLastSeenSql("?"));
  const closeRevision = db.prepare(
    "update _revision set to_run = ? where resource_id = ? and to_run is null",
  );
  const setHeld = db.prepare(
    `update _resource set state = 'held', etag = ?, checked_run = ?, fetched_run = ?, checked_at = ?, gone_run = null, attempts = 0, error = null
     where id = ?`,
  );
  const setChecked = db.prepare(
    `update _resource set state = iif(state = 'due', 'held', state), checked_run = ?, checked_at = ?, attempts = 0, error = null
     where id = ?`,
  );
  const setAbsent = db.prepare(
    `update _resource set state = ?, etag = null, checked_run = ?, checked_at = ?, gone_run = coalesce(gone_run, ?), attempts = 0, error = null,
       absent_run = null, absent_by = null where id = ?`,
  );
  const noteAbsent = db.prepare(
    `update _resource set state = 'held', absent_run = coalesce(absent_run, ?), absent_by = 'answer', checked_run = ?, fetched_run = ?, checked_at = ?,
       attempts = 0, error = null where id = ?`,
  );
  const setFailed = db.prepare(
    `update _resource set attempts = attempts + 1, error = ?, state = case
       when state <> 'due' then state
       when exists (select 1 from _revision where resource_id = _resource.id and to_run is null) then 'held'
       else 'failed' end where id = ?`,
  );
  const isLaterPage = db
    .prepare<[number], number>("select 1 from _page where id = ? and collection_id <> id")
    .pluck();

  const lastRevisionOf = (resource: StoredResource): LastRevision | undefined =>
    resource.checkedRun === 0 ? undefined : selectLastRevision.get(resource.id);

  const ingestBody = (
    resource: StoredResource,
    result: FetchedBody,
    runId: number,
    summary: IngestSummary,
  ): void => {
    const at = Date.parse(result.fetchedAt);
    const sha256 = hash("sha256", result.body, "buffer");
    const last = lastRevisionOf(resource);
    const isSame = last?.sha256?.equals(sha256) ?? false;
    if (isSame && resource.state === "held") {
      setHeld.run(result.etag, runId, runId, at, resource.id);
      summary.unchanged++;
      return;
    }
    const read = { kind: resource.kind, baseUrl: result.finalUrl ?? resource.url };
    const derived = deriveOrThrow(parseJsonBytesOrThrow(result.body), read, context);
    // A body that is held of what is due again was fetched before it was known what it is: only its reading is new.
    if (!isSame) {
      if (last?.sha256) {
        setSeen.run(resource.id);
        closeRevision.run(runId, resource.id);
      }
      const contentId = bodies.store(resource, last === undefined, sha256, result.body);
      insertRevision.run(
        resource.id,
        (last?.seq ?? 0) + 1,
        contentId,
        runId,
        result.status,
        at,
        result.finalUrl ?? null,
      );
    }
    setHeld.run(result.etag, runId, runId, at, resource.id);
    summary.discovered += writer.write({ ...resource, isKnown: last !== undefined }, derived, runId);
    if (last === undefined) summary.new++;
    else if (isSame) summary.unchanged++;
    else summary.changed++;
  };

  const ingestGone = (resource: StoredResource, at: number, runId: number, summary: IngestSummary): void => {
    // A page that is no longer there is no loss: its items are listed by others, or proven absent by themselves.
    const state = isLaterPage.get(resource.id) ? "superseded" : "gone";
    if (state === "gone" && lastRevisionOf(resource)?.sha256) {
      setSeen.run(resource.id);
      noteAbsent.run(runId, runId, runId, at, resource.id);
      return;
    }
    closeRevision.run(runId, resource.id);
    setAbsent.run(state, runId, at, runId, resource.id);
    if (state === "gone" && resource.goneRun === null) summary.gone++;
  };

  const fail = (resource: StoredResource, message: string, summary: IngestSummary): void => {
    setFailed.run(message, resource.id);
    summary.failed++;
    summary.failedIds.push(resource.id);
  };

  const ingestOne = (result: ResourceResult, runId: number, summary: IngestSummary): void => {
    const resource = selectResource.get(result.resourceId);
    if (resource === undefined)
      throw new Error(`a result for resource ${result.resourceId}, which the mirror does not know`);
    switch (result.outcome) {
      case "not-modified":
        // Asked for before it became something else, whose validator is forgotten: it is still due to be read as that.
        if (resource.state === "due" && resource.etag === null) return;
        setChecked.run(runId, Date.parse(result.fetchedAt), resource.id);
        summary.unchanged++;
        return;
      case "gone":
        ingestGone(resource, Date.parse(result.fetchedAt), runId, summary);
        return;
      case "failed":
        fail(resource, `${result.code}: ${result.message}`, summary);
        return;
      case "body":
        try {
          ingestBody(resource, result, runId, summary);
        } catch (error) {
          // Refused before anything was written for it: what is held of this resource stays as it was.
          if (!isRefusal(error)) throw error;
          fail(resource, `contract: ${error.message}`, summary);
        }
    }
  };

  const transaction = db.transaction((results: readonly ResourceResult[], runId: number) => {
    const summary = emptySummary();
    for (const result of results) ingestOne(result, runId, summary);
    judgeBatch(results, summary, runId);
    return summary;
  });
  return (results, runId) => {
    bodies.makeDictionaries();
    return transaction.immediate(results, runId);
  };
}

/**
 * What answers tell beyond what each one stores: who is there after all, what belongs to those who are not, and whether the
 * lists that were read make one whole. Called inside the transaction that stored them.
 */

export function prepareResolveAbsences(db: Connection, absences: Absences): ResolveAbsences {
  const passes = preparePasses(db, absences);
  return (results, { failedIds }, runId) => {
    const idsOf = (wanted: string) =>
      results.flatMap(({ outcome, resourceId }) => (outcome === wanted ? [resourceId] : []));
    const unchanged = idsOf("not-modified");
    const bodies = idsOf("body");
    const gone = idsOf("gone");
    const refused = new Set(failedIds);
    absences.noteSeen([...unchanged, ...bodies.filter((id) => !refused.has(id))]);
    absences.noteBelow(gone, runId);
    passes.judge([...bodies, ...gone, ...failedIds], unchanged, runId);
  };
}
