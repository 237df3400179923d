/** How a run ended. */
import type { RunRecord } from "../../../mirror/runs/runs.ts";

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
