/**
 * What a reading of a collection calls for next. In: its pages, what is wrong with them, what they list no more, and what
 * was judged before. Out: one decision. Pure.
 *
 * A list of several pages may change while it is read, so that something that is still there stands on none of them. It
 * proves an absence only when all its pages were read a second time and none had changed: then all of them were true at
 * once. A single page always is.
 */
import type { ChainPage, Fault } from "./judge-pass.ts";

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
