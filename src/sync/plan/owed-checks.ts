/** The checks that a mirror owes: due ones, and those that the limits of its last run left out. Read without a request. */
import { existsSync } from "node:fs";
import { readMirror } from "../../mirror/reader.ts";
import { listRuns, type RunRecord } from "../../mirror/runs/run-log.ts";
import { systemClock } from "../../platform/clock.ts";
import { resolveOptions } from "../options.ts";
import { countDueChecks } from "./counts.ts";
import { type ForecastSummaryOptions, planRequestOf, readAllowance } from "./preview.ts";
import { checksPerSecond } from "./request.ts";

export interface OwedChecks {
  /** Of suspects, and of resources that exceed the max staleness. */
  readonly due: number;
  /** Others that the last run left out because of its limits. */
  readonly leftOut: number;
  /** About how long all of them take. */
  readonly seconds: number;
}

/** Null for an account, of which every run checks everything, and if checks are not known to be free. @throws as `planSync` */
export function readOwedChecks(options: ForecastSummaryOptions): OwedChecks | null {
  const { file, clock = systemClock } = options;
  const scope = resolveOptions({ ...options, mode: "incremental" });
  const known = readAllowance(options);
  if (scope.area === "account" || known?.checkPrice !== "free" || !existsSync(file)) return null;
  return readMirror(file, (mirror) => {
    const due = countDueChecks(mirror.db, planRequestOf(mirror, scope, { known, budget: null }, clock));
    const runs = listRuns(mirror, 5);
    const leftOut = runs[0]?.counts?.resources.notChecked ?? 0;
    return { due, leftOut, seconds: (due + leftOut) / rateOf(runs) };
  });
}

const minObserved = 100;

/** Checks per second in the newest run that made many. */
function rateOf(runs: readonly RunRecord[]): number {
  for (const { startedAt, endedAt, counts } of runs) {
    const { sent = 0, notModified = 0 } = counts?.requests ?? {};
    const seconds = (Date.parse(endedAt ?? startedAt) - Date.parse(startedAt)) / 1000;
    if (notModified >= minObserved && seconds > 0) return sent / seconds;
  }
  return checksPerSecond;
}
