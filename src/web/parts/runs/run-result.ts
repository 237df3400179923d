/** How a run ended, in words. */
import type { RunRecord } from "../../../mirror/runs/runs.ts";

export function resultOf({ state, stopped }: Pick<RunRecord, "state" | "stopped">): string {
  if (state !== "ended") return state === "running" ? "running" : "not finished";
  return stopped === null ? "done" : stopped.replaceAll("-", " ");
}
