/**
 * The only writer of fetched data. In: a batch of results. Out: one transaction with all their revisions, rows, links
 * and states, or with nothing. It knows neither where results come from nor what is requested next.
 */
import { type Expression, sql } from "kysely";
import { parseJsonBytesOrThrow } from "../../schema/json.ts";
import type { AbsenceProof, ResourceState } from "../../schema/tables.ts";
import type { FetchedBody, FetchFailed, FetchResult } from "../service/fetch-result.ts";
import { type Absences, withoutNote } from "./absence/absences.ts";
import { preparePasses } from "./absence/listing-pass.ts";
import { prepareRefusals } from "./absence/refused-scopes.ts";
import type { BodyStore } from "./bodies/body-store.ts";
import { type LastRevision, prepareRevisions, sha256Of } from "./bodies/revisions.ts";
import { type DeriveContext, deriveOrThrow, isRefusal } from "./derive/derive.ts";
import type { DerivedWriter } from "./derive/write-derived.ts";
import type { Connection } from "./file/connection.ts";
import { prepare, prepareColumn, q } from "./file/statements.ts";

/** The result of fetching a known resource. */
export type ResourceResult = FetchResult & { readonly resourceId: number };

/** How many resources of a batch had each outcome. */
export interface IngestSummary {
  new: number;
  changed: number;
  unchanged: number;
  /** Those never held. Absent resources that were held are noted, and decided when the run closes. */
  gone: number;
  failed: number;
  /** Resources that nothing had linked to before. */
  discovered: number;
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
  readonly goneRun: number | null;
  readonly absentBy: AbsenceProof | null;
  /** 0 before the first response of any kind. */
  readonly lastCheckedRun: number;
}

export type Ingest = (results: readonly ResourceResult[], runId: number) => IngestSummary;

/** Notes and clears absences after a batch was stored, in its transaction. */
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
  resolveAbsences: ResolveAbsences,
): Ingest {
  const revisions = prepareRevisions(db, bodies);
  const resources = prepareStates(db);
  const refusals = prepareRefusals(db);
  const isLaterPage = prepareColumn(db, (p: { id: number }) =>
    q
      .selectFrom("_page")
      .select(sql<1>`1`.as("found"))
      .where("id", "=", p.id)
      .whereRef("collection_id", "<>", "id"),
  );

  const lastRevisionOf = (resource: StoredResource): LastRevision | undefined =>
    resource.lastCheckedRun === 0 ? undefined : revisions.last(resource.id);

  const ingestBody = (
    resource: StoredResource,
    { body, status, etag, headers, finalUrl, fetchedAt }: FetchedBody,
    run: number,
    summary: IngestSummary,
  ): void => {
    const at = Date.parse(fetchedAt);
    const sha256 = sha256Of(body);
    const last = lastRevisionOf(resource);
    const isSame = last?.sha256?.equals(sha256) ?? false;
    // One that returned 404 may have been due since its kind changed, and have no rows yet.
    if (isSame && resource.state === "held" && resource.absentBy === null) {
      resources.setHeld.run({ id: resource.id, etag, run, at });
      summary.unchanged++;
      return;
    }
    const source = { kind: resource.kind, baseUrl: finalUrl ?? resource.url };
    const derived = deriveOrThrow(parseJsonBytesOrThrow(body), source, context);
    // The same body of a due resource: its kind has changed, so only the derived data is new.
    if (!isSame)
      revisions.store(
        { resource, last, body, sha256, status, fetchedAt: at, baseUrl: finalUrl ?? null, headers },
        run,
      );
    resources.setHeld.run({ id: resource.id, etag, run, at });
    summary.discovered += writer.write({ ...resource, isKnown: last !== undefined }, derived, run);
    if (last === undefined) summary.new++;
    else if (isSame) summary.unchanged++;
    else summary.changed++;
  };

  const ingestGone = (resource: StoredResource, at: number, run: number, summary: IngestSummary): void => {
    const { id } = resource;
    // A missing page is no loss: other pages list its items, or they prove absent by themselves.
    const state = isLaterPage.get({ id }) === undefined ? "gone" : "superseded";
    if (state === "gone" && lastRevisionOf(resource)?.sha256) {
      revisions.markLastSeen(id);
      resources.noteAbsent.run({ id, run, at });
      return;
    }
    revisions.close(id, run);
    resources.setAbsent.run({ id, state, run, at });
    if (state === "gone" && resource.goneRun === null) summary.gone++;
  };

  const fail = ({ id }: StoredResource, error: string, summary: IngestSummary): void => {
    resources.setFailed.run({ id, error });
    summary.failed++;
    summary.failedIds.push(id);
  };

  const ingestOne = (result: ResourceResult, run: number, summary: IngestSummary): void => {
    const resource = resources.select.get({ id: result.resourceId });
    if (resource === undefined)
      throw new Error(`a result for resource ${result.resourceId}, which the mirror does not have`);
    switch (result.outcome) {
      case "not-modified":
        // Requested before its kind changed, which dropped its validator: it is still due.
        if (resource.state === "due" && resource.etag === null) return;
        resources.setChecked.run({ id: resource.id, run, at: Date.parse(result.fetchedAt) });
        refusals.clear(resource.kind);
        summary.unchanged++;
        return;
      case "gone":
        ingestGone(resource, Date.parse(result.fetchedAt), run, summary);
        return;
      case "refused":
        refusals.note(resource, result.fetchedAt);
        return;
      case "failed":
        if (isEndedAddress(result) && isLaterPage.get({ id: resource.id }) !== undefined) {
          ingestGone(resource, Date.parse(result.fetchedAt), run, summary);
          return;
        }
        fail(resource, `${result.code}: ${result.message}`, summary);
        return;
      case "body":
        try {
          ingestBody(resource, result, run, summary);
          refusals.clear(resource.kind);
        } catch (error) {
          // Rejected before anything was written: the held body stays.
          if (!isRefusal(error)) throw error;
          fail(resource, `contract: ${error.message}`, summary);
        }
    }
  };

  const transaction = db.transaction((results: readonly ResourceResult[], runId: number) => {
    const summary = emptySummary();
    for (const result of results) ingestOne(result, runId, summary);
    resolveAbsences(results, summary, runId);
    return summary;
  });
  return (results, runId) => {
    bodies.makeDictionaries();
    return transaction.immediate(results, runId);
  };
}

/** Services also send 400 for the address of a page that has ended. */
function isEndedAddress({ code, status }: FetchFailed): boolean {
  return code === "unexpected-status" && status === 400;
}

/** The statements that change a resource's state. */
function prepareStates(db: Connection) {
  interface Check {
    id: number;
    run: number;
    at: number;
  }
  const checked = (p: Check) => ({
    checked_run: p.run,
    last_checked_run: p.run,
    checked_at: p.at,
    attempts: 0,
    error: null,
  });
  return {
    select: prepare(db, (p: { id: number }) =>
      q
        .selectFrom("_resource")
        .select(["id", "url", "kind", "owner_id as ownerId", "state", "etag", "gone_run as goneRun"])
        .select("absent_by as absentBy")
        .select("last_checked_run as lastCheckedRun")
        .where("id", "=", p.id),
    ),
    setHeld: prepare(db, (p: Check & { etag: string | null }) =>
      q
        .updateTable("_resource")
        .set({ ...checked(p), state: "held", etag: p.etag, fetched_run: p.run, gone_run: null })
        .where("id", "=", p.id),
    ),
    setChecked: prepare(db, (p: Check) =>
      q
        .updateTable("_resource")
        .set({ ...checked(p), state: sql<ResourceState>`iif(state = 'due', 'held', state)`, gone_run: null })
        .where("id", "=", p.id),
    ),
    /** Of a resource that was never held. */
    setAbsent: prepare(db, (p: Check & { state: ResourceState }) =>
      q
        .updateTable("_resource")
        .set({
          ...checked(p),
          state: p.state,
          etag: null,
          gone_run: firstOf("gone_run", p.run),
          ...withoutNote,
        })
        .where("id", "=", p.id),
    ),
    /** Of a held resource: the end of the run decides whether it becomes a tombstone. */
    noteAbsent: prepare(db, (p: Check) =>
      q
        .updateTable("_resource")
        .set({
          ...checked(p),
          state: "held",
          fetched_run: p.run,
          absent_run: firstOf("absent_run", p.run),
          absent_by: "response",
        })
        .where("id", "=", p.id),
    ),
    setFailed: prepare(db, (p: { id: number; error: string }) =>
      q
        .updateTable("_resource")
        .set((eb) => ({
          attempts: eb("attempts", "+", 1),
          error: p.error,
          state: sql<ResourceState>`case
            when state <> 'due' then state
            when exists (select 1 from _revision where resource_id = _resource.id and to_run is null) then 'held'
            else 'failed' end`,
        }))
        .where("id", "=", p.id),
    ),
  };
}

/** The value that the column has, or else this one. */
const firstOf = (column: string, value: number): Expression<number> =>
  sql<number>`coalesce(${sql.ref(column)}, ${value})`;

/**
 * Notes and clears absences after a batch: of seen resources, of everything below missing ones, and of unlisted
 * items.
 */
export function prepareResolveAbsences(db: Connection, absences: Absences): ResolveAbsences {
  const passes = preparePasses(db, absences);
  return (results, { failedIds }, runId) => {
    const idsOf = (outcome: ResourceResult["outcome"]) =>
      results.filter((result) => result.outcome === outcome).map(({ resourceId }) => resourceId);
    const unchanged = idsOf("not-modified");
    const bodies = idsOf("body");
    const gone = idsOf("gone");
    const rejected = new Set(failedIds);
    absences.clearSeen([...unchanged, ...bodies.filter((id) => !rejected.has(id))]);
    absences.noteBelow(gone, runId);
    passes.validate([...bodies, ...gone, ...failedIds], unchanged, runId);
  };
}
