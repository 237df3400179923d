/** How far the running sync of a mirror is. Read from its files alone, while another process writes them. */
import type { MirrorReader } from "../../mirror/reader.ts";
import { listRuns } from "../../mirror/runs/run-log.ts";
import { toIso } from "../../platform/clock.ts";
import type { Progress } from "../values/progress.ts";

export interface RunUnderWay extends Progress {
  readonly run: number;
  readonly startedAt: string;
  readonly mode: string;
  /** When all that may be fetched is, at the rate so far: ISO 8601, UTC; null if unknown. */
  readonly estimatedEnd: string | null;
}

/** Before, the rate changes too fast. */
const minSeconds = 5;

/** Null while no sync runs. @param now epoch milliseconds @param progressOf takes long */
export function readRunUnderWay(
  mirror: MirrorReader,
  now: number,
  progressOf: (run: number) => Progress,
): RunUnderWay | null {
  const [newest] = listRuns(mirror, 1);
  if (newest?.state !== "running") return null;
  const { done, toFetch, allowanceLeft } = progressOf(newest.id);
  const seconds = (now - Date.parse(newest.startedAt)) / 1000;
  const isKnown = seconds >= minSeconds && done > 0 && toFetch > 0;
  return {
    ...{
      run: newest.id,
      startedAt: newest.startedAt,
      mode: newest.mode,
      done,
      toFetch,
      allowanceLeft,
    },
    estimatedEnd: isKnown
      ? toIso(now + (1000 * seconds * Math.min(toFetch, allowanceLeft ?? toFetch)) / done)
      : null,
  };
}
