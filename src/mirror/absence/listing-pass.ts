/**
 * Passes over listings: one reading of a collection from its first page to its last, over as many runs as it takes.
 * In: pages with responses. Out: unlisted items are noted as absent, pages to be read again are due, and an
 * inconsistent listing is marked as partial. Runs inside the transaction that stored the responses.
 *
 * A listing of several pages may change while it is read, so that an existing item is on none of them. It proves an
 * absence only if all its pages were read twice and none had changed in between: then they were all valid at the same
 * time. A single page always is.
 */
import { sql } from "kysely";
import type { PassTable } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { idsIn, q } from "../queries/query-builder.ts";
import { type Absences, dueAgain } from "./absences.ts";
import {
  type ChainFault,
  type ChainPage,
  findChainFault,
  isProof,
  prepareChainReader,
} from "./page-chain.ts";

export interface Passes {
  /**
   * Validates the listings that these resources are pages of.
   * @param received resources that returned a body, failed or are gone
   * @param unchanged resources that returned 304
   */
  validate(received: readonly number[], unchanged: readonly number[], runId: number): void;
  /**
   * The same at the end of a run, for the listings that these pages belonged to: while the pages were due, the listings were
   * not validated. Nothing is read a second time any more.
   */
  validateAtEnd(leftPageIds: readonly number[], runId: number): void;
  /**
   * Leaves the listings that these pages belong to to later runs if they are inconsistent or lack items, because the pages
   * are not from the service itself: they prove nothing until it has confirmed them.
   */
  postpone(pageIds: readonly number[], runId: number): void;
}

export function preparePasses(db: Connection, absences: Absences): Passes {
  const chains = prepareChainReader(db);
  const statements = prepareStatements(db);

  const validateChain = (
    id: number,
    pages: readonly ChainPage[],
    { pass, runId, isEnd }: { pass: Pass | null; runId: number; isEnd: boolean },
  ): void => {
    const fault = findChainFault(pages, chains.countRepeated(pages));
    const missing = fault === null ? chains.unlistedBy(pages, id, runId) : [];
    const unlistedIds = missing.flatMap((item) => (item.isDoubtful ? [] : [item.id]));
    const doubtfulIds = missing.flatMap((item) => (item.isDoubtful ? [item.id] : []));
    const save = (changes: Partial<Pass>) =>
      statements.savePass.run({ id, ...(pass ?? newPass(runId)), status: "open", ...changes });
    const version = versionOf(pages);
    const decision = decidePass({ runId, pages, fault, hasUnlisted: unlistedIds.length > 0, pass, isEnd });
    switch (decision.do) {
      case "read":
        absences.markDue(decision.pageIds);
        save({});
        return;
      case "read-all-again":
        statements.readAgain.run({ ids: JSON.stringify(pages.map((page) => page.id)) });
        save({ rereadRun: runId, version });
        return;
      case "postpone":
        save({ fromRun: runId + 1, version });
        return;
      case "mark-partial":
        statements.saveIssue.run({ id, detail: decision.detail, run: runId });
        save({ status: "partial", fromRun: runId + 1, version });
        return;
      case "leave-partial":
        return;
      case "note-unlisted":
        absences.noteUnlisted(unlistedIds, runId);
        break;
      case "request-unlisted":
        absences.markDue(unlistedIds);
        break;
      case "finish":
    }
    absences.markDue(doubtfulIds);
    if (pass === null) return;
    statements.removePass.run({ id });
    statements.removeIssue.run({ id });
  };

  const validateAll = (collectionIds: readonly number[], runId: number, isEnd: boolean): void => {
    for (const id of collectionIds) {
      const pass = statements.selectPass.get({ id }) ?? null;
      if (chains.hasDuePage(id)) {
        if (pass === null) statements.savePass.run({ id, ...newPass(runId) });
        continue;
      }
      const pages = chains.pagesOf(id);
      // A listing that is gone itself proves nothing about its items.
      if (pages[0]?.seq != null) validateChain(id, pages, { pass, runId, isEnd });
    }
  };

  return {
    validate: (received, unchanged, runId) =>
      validateAll(chains.collectionsOf(received, unchanged), runId, false),
    validateAtEnd: (leftPageIds, runId) => validateAll(chains.collectionsOf(leftPageIds, []), runId, true),
    postpone(pageIds, runId) {
      for (const id of chains.collectionsOf(pageIds, [])) {
        const pages = chains.pagesOf(id);
        const isFinished =
          !chains.hasDuePage(id) &&
          findChainFault(pages, chains.countRepeated(pages)) === null &&
          chains.unlistedBy(pages, id, runId).length === 0;
        if (isFinished) statements.removePass.run({ id });
        else statements.savePass.run({ id, ...newPass(runId + 1) });
      }
    },
  };
}

/** A pass that has not finished. */
interface Pass {
  readonly status: PassTable["status"];
  /** Pages that were checked in an earlier run are not part of it. */
  readonly fromRun: number;
  /** The run in which all pages were requested a second time. */
  readonly rereadRun: number | null;
  /** The result of `versionOf` for the pages that were examined last. */
  readonly version: string | null;
}

function newPass(runId: number): Pass {
  return { status: "open", fromRun: runId, rereadRun: null, version: null };
}

interface PassFacts {
  readonly runId: number;
  readonly pages: readonly ChainPage[];
  readonly fault: ChainFault | null;
  /** Whether the pages no longer list some item of the collection. */
  readonly hasUnlisted: boolean;
  readonly pass: Pass | null;
  /** Whether the run reads nothing more. */
  readonly isEnd: boolean;
}

type PassDecision =
  /** The listing is consistent, and no item is missing. */
  | { readonly do: "finish" }
  /** These pages have not been read in this pass. */
  | { readonly do: "read"; readonly pageIds: readonly number[] }
  | { readonly do: "read-all-again" }
  | { readonly do: "note-unlisted" }
  /** A request for each missing item shows whether it exists. */
  | { readonly do: "request-unlisted" }
  /** The pages kept changing; a later run tries again. */
  | { readonly do: "postpone" }
  | { readonly do: "mark-partial"; readonly detail: string }
  /** Marked before, and nothing has changed since. */
  | { readonly do: "leave-partial" };

/** What happens next with a listing. Pure. */
function decidePass({ runId, pages, fault, hasUnlisted, pass, isEnd }: PassFacts): PassDecision {
  if (fault === null && !hasUnlisted) return { do: "finish" };
  const isSameAsBefore = pass?.version === versionOf(pages);
  if (isSameAsBefore && pass.status === "partial") return { do: "leave-partial" };
  // A list that was left to later runs may change in this one: then what this run has read counts, or it would be read without end.
  const fromRun = Math.min(pass?.fromRun ?? runId, runId);
  const older = pages.filter((page) => page.seq !== null && page.checkedRun < fromRun);
  if (older.length > 0 && !pages.some(({ isFailing }) => isFailing))
    return { do: "read", pageIds: older.map(({ id }) => id) };
  const canReadAgain = !isEnd && pages.length > 1 && pass?.rereadRun !== runId && !isSameAsBefore;
  if (fault !== null) {
    const { detail, mayBeTransient } = fault;
    return mayBeTransient && canReadAgain ? { do: "read-all-again" } : { do: "mark-partial", detail };
  }
  // A listing that becomes empty is more often an error than the truth.
  if (!isProof(pages) || pages.every(({ items, seq }) => items === 0 || seq === null))
    return { do: "request-unlisted" };
  if (pages.length === 1 || isSameAsBefore) return { do: "note-unlisted" };
  if (!canReadAgain) return { do: "postpone" };
  // Without validators a second reading costs as much as the first.
  return { do: pages.every(({ hasEtag }) => hasEtag) ? "read-all-again" : "request-unlisted" };
}

/** The same text for the same revisions of the same pages. */
function versionOf(pages: readonly ChainPage[]): string {
  return JSON.stringify(pages.map(({ id, seq, nextId, isFailing }) => [id, seq, nextId, isFailing]));
}

const issueCode = "partial-listing";

function prepareStatements(db: Connection) {
  return {
    selectPass: prepare(db, (p: { id: number }) =>
      q
        .selectFrom("_pass")
        .select(["status", "from_run as fromRun", "reread_run as rereadRun", "page_versions as version"])
        .where("collection_id", "=", p.id),
    ),
    savePass: prepare(db, (p: Pass & { id: number }) =>
      q.replaceInto("_pass").values({
        collection_id: p.id,
        status: p.status,
        from_run: p.fromRun,
        reread_run: p.rereadRun,
        page_versions: p.version,
      }),
    ),
    removePass: prepare(db, (p: { id: number }) => q.deleteFrom("_pass").where("collection_id", "=", p.id)),
    saveIssue: prepare(db, (p: { id: number; detail: string; run: number }) =>
      q
        .insertInto("_issue")
        .values({
          resource_id: p.id,
          pointer: "/collection",
          code: issueCode,
          detail: p.detail,
          run_id: p.run,
        })
        .onConflict((conflict) =>
          conflict.doUpdateSet((eb) => ({
            detail: eb.ref("excluded.detail"),
            run_id: eb.ref("excluded.run_id"),
          })),
        ),
    ),
    removeIssue: prepare(db, (p: { id: number }) =>
      q.deleteFrom("_issue").where("resource_id", "=", p.id).where("code", "=", issueCode),
    ),
    // Where a loop was cut, the page is requested without its validator: if it is unchanged, pages before it may not
    // be.
    readAgain: prepare(db, (p: { ids: string }) =>
      q
        .updateTable("_resource")
        .set({
          ...dueAgain,
          etag: sql<
            string | null
          >`iif(exists (select 1 from _issue where resource_id = _resource.id and code = 'page-loop'), null, etag)`,
        })
        .where("state", "=", "held")
        .where("id", "in", idsIn(p.ids)),
    ),
  };
}
