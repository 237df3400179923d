/**
 * Passes: one reading of a collection each, from the first page to the last, over as many runs as it takes. In: pages that
 * answered. Out: what is listed no more is noted as absent, pages that are to be read again are due, and a list that does
 * not make one whole is marked as partial. Called inside the transaction that stored the answers.
 */
import type { Connection } from "../file/connection.ts";
import { type Absences, markDueSql } from "./absences.ts";
import { type ChainPage, type Fault, findChainFault, prepareChainReader } from "./page-chain.ts";

export interface Passes {
  /**
   * @param answered resources that sent a body, or failed, or are not there
   * @param unchanged resources that said that nothing changed
   */
  judge(answered: readonly number[], unchanged: readonly number[], runId: number): void;
}

export function preparePasses(db: Connection, absences: Absences): Passes {
  const chains = prepareChainReader(db);
  const selectPass = db.prepare<[number], Pass>(
    "select verdict, from_run as fromRun, reread_run as rereadRun, judged from _pass where collection_id = ?",
  );
  const savePass = db.prepare<Pass & { id: number }>(
    `insert or replace into _pass (collection_id, verdict, from_run, reread_run, judged)
     values (:id, :verdict, :fromRun, :rereadRun, :judged)`,
  );
  const removePass = db.prepare("delete from _pass where collection_id = ?");
  const removeIssue = db.prepare("delete from _issue where resource_id = ? and code = 'partial-listing'");
  const saveIssue = db.prepare(
    `insert into _issue (resource_id, pointer, code, detail, run_id) values (?, '/collection', 'partial-listing', ?, ?)
     on conflict do update set detail = excluded.detail, run_id = excluded.run_id`,
  );
  // Where a list was cut, its page is read anew even if it is the same: the pages before it may not be.
  const readAgain = db.prepare(
    `update _resource set ${markDueSql},
       etag = iif(id in (select resource_id from _issue where code = 'page-loop'), null, etag)
     where state = 'held' and id in (select value from json_each(?))`,
  );

  const judgeChain = (id: number, pages: readonly ChainPage[], pass: Pass | null, runId: number): void => {
    const fault = findChainFault(pages, chains.countRepeated(pages));
    const missing = fault === null ? chains.unlistedBy(pages, id, runId) : [];
    const unlisted = missing.flatMap((item) => (item.isDoubtful ? [] : [item.id]));
    const save = (changes: Partial<Pass>) =>
      savePass.run({ id, ...(pass ?? newPass(runId)), verdict: "open", ...changes });
    const judged = versionOf(pages);
    const decision = decidePass({ runId, pages, fault, hasUnlisted: unlisted.length > 0, pass });
    switch (decision.do) {
      case "read":
        absences.askAgain(decision.pageIds);
        save({});
        return;
      case "read-all-again":
        readAgain.run(JSON.stringify(pages.map((page) => page.id)));
        save({ rereadRun: runId, judged });
        return;
      case "postpone":
        save({ fromRun: runId + 1, judged });
        return;
      case "mark-partial":
        saveIssue.run(id, decision.detail, runId);
        save({ verdict: "partial", fromRun: runId + 1, judged });
        return;
      case "leave-partial":
        return;
      case "note-unlisted":
        absences.noteUnlisted(unlisted, runId);
        break;
      case "ask-unlisted":
        absences.askAgain(unlisted);
        break;
      case "settle":
    }
    absences.askAgain(missing.flatMap((item) => (item.isDoubtful ? [item.id] : [])));
    if (pass === null) return;
    removePass.run(id);
    removeIssue.run(id);
  };

  return {
    judge(answered, unchanged, runId) {
      for (const id of chains.collectionsOf(answered, unchanged)) {
        const pass = selectPass.get(id) ?? null;
        if (chains.hasDuePage(id)) {
          if (pass === null) savePass.run({ id, ...newPass(runId) });
          continue;
        }
        const pages = chains.pagesOf(id);
        // A list that is not there itself says nothing of what it listed.
        if (pages[0]?.seq != null) judgeChain(id, pages, pass, runId);
      }
    },
  };
}

function newPass(runId: number): Pass {
  return { verdict: "open", fromRun: runId, rereadRun: null, judged: null };
}

/**
 * What a reading of a collection calls for next. In: its pages, what is wrong with them, what they list no more, and what
 * was judged before. Out: one decision. Pure.
 *
 * A list of several pages may change while it is read, so that something that is still there stands on none of them. It
 * proves an absence only when all its pages were read a second time and none had changed: then all of them were true at
 * once. A single page always is.
 */

/** A pass that is not settled. */
export interface Pass {
  readonly verdict: "open" | "partial";
  /** Pages that were checked in an earlier run are not part of it. */
  readonly fromRun: number;
  /** The run in which all pages were asked for a second time. */
  readonly rereadRun: number | null;
  /** What was judged last, as `versionOf` gives it. */
  readonly judged: string | null;
}

export interface PassFacts {
  readonly runId: number;
  readonly pages: readonly ChainPage[];
  readonly fault: Fault | null;
  /** Whether something that the collection owns is listed no more. */
  readonly hasUnlisted: boolean;
  readonly pass: Pass | null;
}

export type PassDecision =
  /** One whole, and nothing is missing. */
  | { readonly do: "settle" }
  /** These pages were not read in this pass yet. */
  | { readonly do: "read"; readonly pageIds: readonly number[] }
  | { readonly do: "read-all-again" }
  | { readonly do: "note-unlisted" }
  /** Each has to say for itself whether it is there. */
  | { readonly do: "ask-unlisted" }
  /** Pages went on changing; a later run tries again. */
  | { readonly do: "postpone" }
  | { readonly do: "mark-partial"; readonly detail: string }
  /** Nothing happened since it was marked. */
  | { readonly do: "leave-partial" };

export function decidePass({ runId, pages, fault, hasUnlisted, pass }: PassFacts): PassDecision {
  if (fault === null && !hasUnlisted) return { do: "settle" };
  const isJudged = pass?.judged === versionOf(pages);
  if (isJudged && pass.verdict === "partial") return { do: "leave-partial" };
  const older = pages.filter((page) => page.seq !== null && page.checkedRun < (pass?.fromRun ?? runId));
  if (older.length > 0 && !pages.some(({ isFailing }) => isFailing))
    return { do: "read", pageIds: older.map(({ id }) => id) };
  const mayReadAgain = pages.length > 1 && pass?.rereadRun !== runId && !isJudged;
  if (fault !== null) {
    const { detail, mayHaveMoved } = fault;
    return mayHaveMoved && mayReadAgain ? { do: "read-all-again" } : { do: "mark-partial", detail };
  }
  // A list that had items and has none is more often a mistake than the truth.
  if (pages.every(({ items, seq }) => items === 0 || seq === null)) return { do: "ask-unlisted" };
  if (pages.length === 1 || isJudged) return { do: "note-unlisted" };
  if (!mayReadAgain) return { do: "postpone" };
  // Without validators a second reading costs as much as the first.
  return { do: pages.every(({ hasEtag }) => hasEtag) ? "read-all-again" : "ask-unlisted" };
}

/** The same text for pages that say the same. */
export function versionOf(pages: readonly ChainPage[]): string {
  return JSON.stringify(pages.map(({ id, seq, nextId, isFailing }) => [id, seq, nextId, isFailing]));
}
