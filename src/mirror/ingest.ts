/**
 * The only writer of fetched data. In: a batch of results. Out: one transaction with all their revisions, rows, links
 * and states, or with nothing. It knows neither where results come from nor what is requested next.
 */
import { sql } from "kysely";
import { parseJsonBytesOrThrow } from "../../schema/json.ts";
import type { FetchedBody, FetchFailed, FetchResult } from "../service/fetch-result.ts";
import type { Absences } from "./absence/absences.ts";
import { preparePasses } from "./absence/listing-pass.ts";
import { prepareRefusals } from "./absence/refused-scopes.ts";
import type { BodyStore } from "./bodies/body-store.ts";
import { type LastRevision, prepareRevisions, sha256Of } from "./bodies/revisions.ts";
import { type DeriveContext, deriveOrThrow, isRefusal } from "./derive/derive.ts";
import { prepareStates, type StoredResource } from "./derive/resource-states.ts";
import type { DerivedWriter } from "./derive/write-derived.ts";
import type { Connection } from "./file/connection.ts";
import { prepareColumn } from "./file/statements.ts";
import { q } from "./queries/query-builder.ts";
import { prepareConfirmations } from "./snapshots/confirmations.ts";

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
  /** Of the changed ones: bodies from snapshots in whose place the service sent others. */
  differences: number;
  /** Of those: bodies under a tag that the service gives to another one. Their snapshots are condemned. */
  contradictions: number;
  failedIds: number[];
  /** The service asked to request these later, each for itself. */
  postponedIds: number[];
}

export const emptySummary = (): IngestSummary => ({
  new: 0,
  changed: 0,
  unchanged: 0,
  gone: 0,
  failed: 0,
  discovered: 0,
  differences: 0,
  contradictions: 0,
  failedIds: [],
  postponedIds: [],
});

export type Ingest = (results: readonly ResourceResult[], runId: number) => IngestSummary;

/** Notes and clears absences after a batch was stored, in its transaction. */
export type ResolveAbsences = (
  results: readonly ResourceResult[],
  summary: IngestSummary,
  runId: number,
) => void;

/** A body in comparison with the one that the mirror holds. */
interface ComparedBody {
  /** Undefined before the first one. */
  readonly last: LastRevision | undefined;
  readonly sha256: Buffer;
  readonly isSame: boolean;
}

export interface StoreBody {
  /** To be called at the beginning of each transaction. */
  begin(): void;
  /** @param proven its SHA-256, if that is known */
  compare(resource: StoredResource, body: Uint8Array, proven?: Buffer): ComparedBody;
  /**
   * Derives and stores a body that is not the held one, or is to be derived again. Nothing is written if it is rejected.
   * @returns the number of resources that nothing had linked to before
   */
  store(resource: StoredResource, fetched: FetchedBody, compared: ComparedBody, runId: number): number;
}

export function prepareStoreBody(
  db: Connection,
  bodies: BodyStore,
  writer: DerivedWriter,
  context: DeriveContext,
): StoreBody {
  const revisions = prepareRevisions(db, bodies);
  const { setHeld } = prepareStates(db);
  return {
    begin: () => revisions.begin(),
    compare(resource, body, sha256 = sha256Of(body)) {
      const last = resource.lastCheckedRun === 0 ? undefined : revisions.last(resource.id);
      return { last, sha256, isSame: last?.sha256?.equals(sha256) ?? false };
    },
    store(resource, { body, status, etag, headers, finalUrl, fetchedAt }, { last, sha256, isSame }, run) {
      const at = Date.parse(fetchedAt);
      const source = { kind: resource.kind, baseUrl: finalUrl ?? resource.url };
      const derived = deriveOrThrow(parseJsonBytesOrThrow(body), source, context);
      // The same body of a due resource: its kind has changed, so only the derived data is new.
      if (!isSame)
        revisions.store(
          { resource, last, body, sha256, status, fetchedAt: at, baseUrl: finalUrl ?? null, headers },
          run,
        );
      setHeld.run({ id: resource.id, etag, run, at });
      return writer.write({ ...resource, isKnown: last !== undefined }, derived, run);
    },
  };
}

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
  const confirmations = prepareConfirmations(db);
  const { begin, compare, store } = prepareStoreBody(db, bodies, writer, context);
  const isLaterPage = prepareColumn(db, (p: { id: number }) =>
    q
      .selectFrom("_page")
      .select(sql<1>`1`.as("found"))
      .where("id", "=", p.id)
      .whereRef("collection_id", "<>", "id"),
  );

  const ingestBody = (
    resource: StoredResource,
    fetched: FetchedBody,
    run: number,
    summary: IngestSummary,
  ): void => {
    const { body, etag, fetchedAt } = fetched;
    const { id, url } = resource;
    const compared = compare(resource, body);
    const { last, isSame } = compared;
    if (isSame && last) confirmations.noteSame(id, last.seq, run);
    // One that returned 404 may have been due since its kind changed, and have no rows yet.
    if (isSame && resource.state === "held" && resource.absentBy === null) {
      resources.setHeld.run({ id, etag, run, at: Date.parse(fetchedAt) });
      summary.unchanged++;
      return;
    }
    summary.discovered += store(resource, fetched, compared, run);
    if (last === undefined) summary.new++;
    else if (isSame) summary.unchanged++;
    else {
      summary.changed++;
      const difference = confirmations.noteOther(id, { url, seq: last.seq, body, etag, fetchedAt });
      if (difference !== "none") summary.differences++;
      if (difference === "contradiction") summary.contradictions++;
    }
  };

  const ingestGone = (resource: StoredResource, at: number, run: number, summary: IngestSummary): void => {
    const { id } = resource;
    // A missing page is no loss: other pages list its items, or they prove absent by themselves.
    const state = isLaterPage.get({ id }) === undefined ? "gone" : "superseded";
    if (state === "gone" && resource.lastCheckedRun !== 0 && revisions.last(id)?.sha256) {
      revisions.markLastSeen(id);
      resources.noteAbsent.run({ id, run, at });
      return;
    }
    revisions.close(id, run);
    resources.setAbsent.run({ id, state, run, at });
    if (state === "gone" && resource.goneRun === null) summary.gone++;
  };

  const fail = ({ id }: StoredResource, error: string, summary: IngestSummary): void => {
    resources.setFailed.run({ id, error, retryAt: null });
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
        confirmations.noteValidator(resource.id, run);
        refusals.clear(resource.kind);
        summary.unchanged++;
        return;
      case "gone":
        ingestGone(resource, Date.parse(result.fetchedAt), run, summary);
        return;
      case "refused":
        refusals.note(resource, result.fetchedAt);
        return;
      case "postponed": {
        const { message, retryAt } = result;
        resources.setFailed.run({
          id: resource.id,
          error: `postponed: ${message}`,
          retryAt: Date.parse(retryAt),
        });
        summary.postponedIds.push(resource.id);
        return;
      }
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
    begin();
    confirmations.begin();
    for (const result of results) ingestOne(result, runId, summary);
    confirmations.end();
    resolveAbsences(results, summary, runId);
    return summary;
  });
  return (results, runId) => {
    bodies.makeDictionaries();
    return transaction.immediate(results, runId);
  };
}

/** The resources whose present state is known from these results. */
export function idsReceived(
  results: readonly ResourceResult[],
  { failedIds }: Pick<IngestSummary, "failedIds">,
): number[] {
  const rejected = new Set(failedIds);
  return results
    .filter(({ outcome, resourceId }) => receivedOutcomes.has(outcome) && !rejected.has(resourceId))
    .map(({ resourceId }) => resourceId);
}

const receivedOutcomes: ReadonlySet<ResourceResult["outcome"]> = new Set(["body", "not-modified", "gone"]);

/** Services also send 400 for the address of a page that has ended. */
function isEndedAddress({ code, status }: FetchFailed): boolean {
  return code === "unexpected-status" && status === 400;
}

/**
 * Notes and clears absences after a batch: of seen resources, of everything below missing ones, and of unlisted
 * items.
 */
export function prepareResolveAbsences(db: Connection, absences: Absences): ResolveAbsences {
  const passes = preparePasses(db, absences);
  return (results, { failedIds, postponedIds }, runId) => {
    const idsOf = (outcome: ResourceResult["outcome"]) =>
      results.filter((result) => result.outcome === outcome).map(({ resourceId }) => resourceId);
    const unchanged = idsOf("not-modified");
    const bodies = idsOf("body");
    const gone = idsOf("gone");
    const rejected = new Set(failedIds);
    absences.clearSeen([...unchanged, ...bodies.filter((id) => !rejected.has(id))]);
    absences.noteBelow(gone, runId);
    passes.validate([...bodies, ...gone, ...failedIds, ...postponedIds], unchanged, runId);
  };
}
