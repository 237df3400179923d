/** The result of a run, and its problems. */
import { html } from "hono/html";
import type { RunRecord } from "../../../mirror/runs/run-log.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import type { Html } from "../../page.ts";

/** As data. */
export function resultOf({ state, stopped }: Pick<RunRecord, "state" | "stopped">): string {
  if (state !== "ended") return state === "running" ? "running" : "not finished";
  return stopped === null ? "done" : stopped.replaceAll("-", " ");
}

const words: Readonly<Record<string, string>> = {
  allowance: "allowance used up",
  budget: "budget used up",
  approval: "waits for approval",
  error: "failed",
};

/** On pages. */
export const describeResult = (result: string): string => words[result] ?? result;

/** A run ends when all is done, or when nothing more may be spent that day. */
export const isOrdinary = ({ state, stopped }: RunRecord): boolean =>
  state === "ended" && (stopped === null || stopped === "allowance" || stopped === "budget");

/** Empty if there are none. */
export function problemsOf(run: RunRecord): string[] {
  const failed = run.counts?.resources.failed ?? 0;
  const partial = run.counts?.resources.partial ?? 0;
  return [
    ...(isOrdinary(run) || run.state === "running" ? [] : [describeResult(resultOf(run))]),
    ...(failed === 0 ? [] : [`${formatCount(failed, "resource")} failed`]),
    ...(partial === 0 ? [] : [`${formatCount(partial, "list is", "lists are")} partial`]),
  ];
}

/** For a list of runs: the problems, or else the result. */
export function resultInList(run: RunRecord): Html | string {
  const problems = problemsOf(run);
  return problems.length === 0
    ? describeResult(resultOf(run))
    : html`<strong class="mistake">${problems.join(", ")}</strong>`;
}
