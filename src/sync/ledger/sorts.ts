/** What was asked in one window, by what it may cost. */
import type { AttemptReport } from "../../service/answers/reserve.ts";

/** Whether the answer itself says what remains. */
export function tells({ allowance }: AttemptReport): boolean {
  return typeof allowance?.remaining === "number";
}

export interface Sorts {
  /** Answers that are surely counted. */
  readonly plain: number;
  /** Answers "not modified" that did not tell what remains. */
  readonly notModified: number;
  /** What else may have been counted: the front page, errors, and what got no answer. */
  readonly others: number;
  /** Whether the window began with a plain one: then its beginning is known, whatever a 304 costs. */
  readonly isBegunSurely: boolean;
}

/** What one window granted. */
export interface Granted extends Sorts {
  /** Whether it granted no more than that. */
  readonly isAll: boolean;
}

export const noSorts: Sorts = { plain: 0, notModified: 0, others: 0, isBegunSurely: false };

/** @param isOfThisWindow whether it was asked for since the window began */
export function countSort(
  sorts: Sorts,
  report: AttemptReport,
  { isRoot, isOfThisWindow }: { readonly isRoot: boolean; readonly isOfThisWindow: boolean },
): Sorts {
  const { status, isRefusal, isSent } = report;
  if (!isSent || isRefusal) return sorts;
  if (isRoot || !isOfThisWindow || (status !== 200 && status !== 304))
    return { ...sorts, others: sorts.others + 1 };
  if (status === 304) return tells(report) ? sorts : { ...sorts, notModified: sorts.notModified + 1 };
  const isBegunSurely = sorts.plain === 0 ? sorts.notModified === 0 : sorts.isBegunSurely;
  return { ...sorts, plain: sorts.plain + 1, isBegunSurely };
}
